// Patterns of rewrite rules: text that is read while compiling, into flat data.
//
//   term         variable | [letter ':'] constant | [letter ':'] op ['!'] '(' terms | '...' ')'
//   variable     a small letter: any value (v, w: one that is no constant); the same letter
//                twice: the same value
//   constant     a capital letter: any constant, or the broadcast of a scalar one;
//                a number, true, false, -0, lowest, highest, ones: a constant all of whose
//                elements are that (-0 by its bits; ones: all bits set; lowest, highest: of the
//                type, infinities of floats)
//   op           its HLO name; eq ne ge gt le lt: compare of that direction; elementwise: any op
//                of that class; '!': nobody else uses its value; '...': operands of any number
// Of add, multiply, and, or, xor, maximum, minimum, eq and ne the operands match in both orders.
#pragma once

#include "ir/ir.h"

namespace hilo {

struct PatternNode {
  enum class Kind : uint8_t {
    Any,
    Variable,
    AnyConstant,
    Number,
    NegativeZero,
    Lowest,
    Highest,
    Ones,
    Apply
  };
  static constexpr int8_t none = -1;

  Kind kind = Kind::Any;
  Op op = Op::Tuple;
  int8_t slot = none;       // of the letter
  int8_t direction = none;  // of a compare
  int8_t operands = 0;      // none: any number
  bool sole_use = false, elementwise = false;
  int8_t size = 1;  // nodes of the term, which follow each other
  double number = 0;
};

// The place of a letter among what a match binds.
constexpr int slot_count = 52;
constexpr int slot_of(char letter) { return letter >= 'a' ? letter - 'a' : 26 + letter - 'A'; }

namespace pattern_text {

inline constexpr std::string_view ops[] = {
#define OP(name, text, operands, attributes, op_class, types, ...) text,
#include "ir/ops.def"
#undef OP
};
// In the order of ComparisonDirection.
inline constexpr std::string_view directions[] = {"eq", "ne", "ge", "gt", "le", "lt"};
struct Word {
  std::string_view text;
  PatternNode::Kind kind;
  double number = 0;
};
inline constexpr Word words[] = {{"true", PatternNode::Kind::Number, 1},
                                 {"false", PatternNode::Kind::Number, 0},
                                 {"lowest", PatternNode::Kind::Lowest},
                                 {"highest", PatternNode::Kind::Highest},
                                 {"ones", PatternNode::Kind::Ones}};

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_word(char c) { return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-'; }

}  // namespace pattern_text

struct Pattern {
  static constexpr int max_nodes = 12;
  PatternNode nodes[max_nodes] = {};
  int8_t count = 0;

  constexpr Pattern() = default;
  consteval Pattern(const char* text) {
    const char* at = term(text);
    if (*at != 0) throw "pattern: text after its end";
  }
  constexpr const PatternNode& root() const { return nodes[0]; }

 private:
  static constexpr const char* skip(const char* at) {
    while (*at == ' ') ++at;
    return at;
  }

  constexpr const char* term(const char* at) {
    at = skip(at);
    if (count == max_nodes) throw "pattern: too many nodes";
    const int mine = count++;
    PatternNode& node = nodes[mine];
    if (pattern_text::is_capital(*at)) {
      node.kind = PatternNode::Kind::AnyConstant;
      node.slot = static_cast<int8_t>(slot_of(*at));
      return skip(at + 1);
    }
    if (!pattern_text::is_digit(*at) && at[1] == ':') {
      node.slot = static_cast<int8_t>(slot_of(*at));
      at += 2;
    }
    if (pattern_text::is_digit(*at) || (*at == '-' && pattern_text::is_digit(at[1])))
      return skip(number(at, node));
    const char* end = at;
    while (pattern_text::is_word(*end)) ++end;
    const std::string_view word(at, static_cast<size_t>(end - at));
    if (*end != '(' && *end != '!') return skip(leaf(word, end, node));
    end = application(word, end, mine);
    nodes[mine].size = static_cast<int8_t>(count - mine);
    return skip(end);
  }

  static constexpr const char* number(const char* at, PatternNode& node) {
    node.kind = PatternNode::Kind::Number;
    const bool negative = *at == '-';
    if (negative) ++at;
    double place = 0;
    for (; pattern_text::is_digit(*at) || *at == '.'; ++at) {
      if (*at == '.') {
        place = 1;
        continue;
      }
      node.number = node.number * 10 + (*at - '0');
      place *= 10;
    }
    if (place > 0) node.number /= place;
    if (negative && node.number == 0) node.kind = PatternNode::Kind::NegativeZero;
    if (negative) node.number = -node.number;
    return at;
  }

  static constexpr const char* leaf(std::string_view word, const char* end, PatternNode& node) {
    for (const auto& known : pattern_text::words)
      if (known.text == word) {
        node.kind = known.kind;
        node.number = known.number;
        return end;
      }
    if (word.size() != 1 || pattern_text::is_digit(word[0])) throw "pattern: unknown word";
    node.slot = static_cast<int8_t>(slot_of(word[0]));
    if (word == "v" || word == "w") node.kind = PatternNode::Kind::Variable;
    return end;
  }

  constexpr const char* application(std::string_view word, const char* at, int mine) {
    PatternNode& node = nodes[mine];
    node.kind = PatternNode::Kind::Apply;
    bool found = node.elementwise = word == "elementwise";
    for (int i = 0; i < op_count; ++i)
      if (pattern_text::ops[i] == word) node.op = static_cast<Op>(i), found = true;
    for (int i = 0; i < 6; ++i)
      if (pattern_text::directions[i] == word)
        node.op = Op::Compare, node.direction = static_cast<int8_t>(i), found = true;
    if (!found) throw "pattern: no such op";
    if (*at == '!') node.sole_use = true, ++at;
    if (*at != '(') throw "pattern: expected '('";
    at = skip(at + 1);
    if (std::string_view(at, 3) == "...") {
      node.operands = PatternNode::none;
      at = skip(at + 3);
    } else {
      for (; *at != ')'; ++node.operands) {
        if (node.operands > 0 && *at++ != ',') throw "pattern: expected ','";
        at = term(at);
      }
    }
    if (*at != ')') throw "pattern: expected ')'";
    return at + 1;
  }
};

}  // namespace hilo

// Tokens of HLO text, read one by one from where `at` stands. White space and comments before a
// token are skipped by the function that reads it. A function that fails says so once through
// fail(), and everything after it fails too.
#pragma once

#include <array>
#include <optional>

#include "ir/ir.h"

namespace hilo {

enum CharClass : uint8_t { GapChar = 1, WordChar = 2, DigitChar = 4 };
inline constexpr std::array<uint8_t, 256> char_classes = [] {
  std::array<uint8_t, 256> out{};
  for (char c : {' ', '\t', '\n', '\r', '\v', '\f', '/'})
    out[static_cast<unsigned char>(c)] = GapChar;
  for (int c = 'a'; c <= 'z'; ++c) out[c] = out[c - 'a' + 'A'] = WordChar;
  for (int c = '0'; c <= '9'; ++c) out[c] = WordChar | DigitChar;
  for (char c : {'_', '.', '-'}) out[static_cast<unsigned char>(c)] = WordChar;
  return out;
}();
inline bool is_class(char c, uint8_t classes) {
  return char_classes[static_cast<unsigned char>(c)] & classes;
}
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Lexer {
 public:
  // text.data()[text.size()] must be 0. Unescaped strings go to `strings`.
  Lexer(std::string_view text, StringArena& strings)
      : at(text.data()), begin(text.data()), end(text.data() + text.size()), strings_(&strings) {}

  const char* at;
  const char* begin;
  const char* end;
  // Why and where reading failed.
  struct Failure {
    ErrorKind kind;
    std::string message;
    const char* at;
  };
  std::optional<Failure> failure;

  void skip() {
    if (!is_class(*at, GapChar)) return;
    if (*at == ' ' && !is_class(at[1], GapChar)) ++at;
    else skip_gap();
  }
  bool at_end() { return skip(), at == end; }
  bool peek(char c) { return skip(), *at == c; }
  bool accept(char c) {
    skip();
    if (*at != c) return false;
    ++at;
    return true;
  }
  // `where` completes "expected 'c' ...".
  bool expect(char c, std::string_view where) {
    return accept(c) || (c == 0 ? false : fail_expected(c, where));
  }
  bool accept(std::string_view token);      // punctuation of several characters
  bool accept_word(std::string_view word);  // a whole word
  bool peek_word(std::string_view word);
  // Letters, digits, '_', '.', '-', not including the '-' of "->"; empty when there is none.
  std::string_view word() {
    skip();
    return word_here();
  }
  std::string_view word_here() {
    const char* start = at;
    const char* stop = start;
    while (is_class(*stop, WordChar)) ++stop;
    if (*stop == '>' && stop > start && stop[-1] == '-') --stop;
    at = stop;
    return {start, static_cast<size_t>(stop - start)};
  }
  // [%]word
  bool name(std::string_view& out, std::string_view what);
  bool integer(int64_t& out);
  bool non_negative(int64_t& out);
  bool number(double& out);
  bool string(std::string_view& out);  // "..." or '...', unescaped
  // The text of a bracketed group with all that is nested in it, brackets included.
  bool balanced(std::string_view& out);

  bool fail(ErrorKind kind, std::string message) { return fail_at(at, kind, std::move(message)); }
  bool fail_at(const char* where, ErrorKind kind, std::string message);
  bool fail_expected(char c, std::string_view where);
  bool fail_expected(std::string_view what);  // "expected WHAT, found ..."
  // The token at `at`, quoted, for messages.
  std::string found();
  Place place_of(const char* position) const;  // line and column
  StringArena& strings() { return *strings_; }

 private:
  void skip_gap();
  bool unescape(std::string_view raw, std::string_view& out);

  StringArena* strings_;
  // Lines are counted on from the last place that was asked for.
  mutable const char* counted_to_ = begin;
  mutable int64_t lines_counted_ = 0;
};

}  // namespace hilo

// Operands: `[shape] [%]name{#index}*`, or a nested instruction `[shape] opcode(operands)`. Nesting
// is kept on a stack of our own, not the machine's.
#include <algorithm>

#include "text/parser.h"

namespace hilo {
namespace {

struct Level {
  Draft draft;
  size_t first;  // of its operands on the stack
};

bool append_element(Parser& parser, InstructionId tuple, int64_t index, InstructionId& out) {
  const Shape& shape = parser.module.shape(tuple);
  if (!shape.is_tuple() || index >= static_cast<int64_t>(shape.elements.size()))
    return parser.fail(ErrorKind::Shape,
                       fmt::format("'{}' has no element {}", parser.module[tuple].name, index));
  const uint64_t key = uint64_t{tuple.value} << 32 | static_cast<uint32_t>(index);
  const auto found = parser.scope().tuple_elements.find(key);
  if (found != parser.scope().tuple_elements.end()) return out = found->second, true;
  const Shape element = shape.elements[index];
  Draft draft;
  draft.op = Op::GetTupleElement;
  draft.shape = parser.module.shapes.intern(element);
  make_attributes(parser, draft);
  parser.module.mutable_attributes<GetTupleElementAttributes>(draft.attributes).index = index;
  if (!append_instruction(parser, draft, {&tuple, 1}, out)) return false;
  parser.scope().tuple_elements.emplace(key, out);
  return true;
}

// In a bare instruction an operand that is only a shape, or has an unknown name, is a parameter.
bool append_parameter(Parser& parser, std::string_view name, ShapeId shape, InstructionId& out) {
  Draft draft;
  draft.name = name;
  draft.op = Op::Parameter;
  draft.shape = shape;
  make_attributes(parser, draft);
  parser.module.mutable_attributes<ParameterAttributes>(draft.attributes).number =
      static_cast<int64_t>(parser.scope().instructions.size());
  return append_instruction(parser, draft, {}, out);
}

bool check_operand_shape(Parser& parser, const char* at, ShapeId stated, InstructionId id) {
  const ShapeId actual = parser.module[id].shape;
  if (!stated || stated == actual ||
      same_dims(parser.module.shapes[stated], parser.module.shapes[actual]))
    return true;
  return parser.fail_at(
      at, ErrorKind::Shape,
      fmt::format("the operand '{}' is stated to be {}, but it is {}", parser.module[id].name,
                  to_string_without_layout(parser.module.shapes[stated]),
                  to_string_without_layout(parser.module.shapes[actual])));
}

bool parse_named_operand(Parser& parser, std::string_view name, ShapeId shape) {
  const char* at = name.data();
  InstructionId id;
  if (parser.bare && shape && parser.scope().names.find(name) == SpanTable::none) {
    if (!append_parameter(parser, name, shape, id)) return false;
  } else if (!find_operand(parser, name, id)) {
    return false;
  }
  while (*parser.at == '#') {
    ++parser.at;
    int64_t index;
    if (!parser.non_negative(index) || !append_element(parser, id, index, id)) return false;
  }
  if (!check_operand_shape(parser, at, shape, id)) return false;
  parser.operands.push_back(id);
  return true;
}

// What a nested instruction needs before its operands; parameter and constant are read whole.
bool open_nested(Parser& parser, Op op, ShapeId shape, std::vector<Level>& levels) {
  if (levels.size() >= static_cast<size_t>(parser.options.max_depth))
    return parser.fail(ErrorKind::Limit,
                       fmt::format("operands nested more than {} deep", parser.options.max_depth));
  Draft draft;
  draft.op = op;
  draft.shape = shape;
  make_attributes(parser, draft);
  levels.push_back({draft, parser.operands.size()});
  return !is_leaf(op) || parse_leaf(parser, levels.back().draft);
}

bool close_nested(Parser& parser, std::vector<Level>& levels) {
  Level level = levels.back();
  levels.pop_back();
  InstructionId id;
  const std::span<const InstructionId> all(parser.operands);
  if (!append_instruction(parser, level.draft, all.subspan(level.first), id)) return false;
  parser.operands.resize(level.first);
  parser.operands.push_back(id);
  return true;
}

// Reads one operand, or the head of a nested instruction up to its '('.
bool parse_operand(Parser& parser, std::vector<Level>& levels, bool& opened) {
  ShapeId shape;
  parser.skip();
  if (*parser.at == '%') {
    ++parser.at;
    return parse_named_operand(parser, parser.word_here(), shape);
  }
  if (at_shape(parser)) {
    if (!parse_shape_id(parser, shape)) return false;
    if (parser.bare && (parser.peek(',') || parser.peek(')'))) {
      InstructionId id;
      if (!append_parameter(parser, "", shape, id)) return false;
      return parser.operands.push_back(id), true;
    }
  }
  const bool percent = parser.accept('%');
  const std::string_view name = parser.word();
  if (name.empty()) return parser.fail_expected("an operand");
  if (percent || !parser.peek('(')) return parse_named_operand(parser, name, shape);
  const auto op = op_of(name);
  if (!op)
    return parser.fail_at(name.data(), ErrorKind::Name, fmt::format("unknown opcode '{}'", name));
  parser.accept('(');
  return opened = true, open_nested(parser, *op, shape, levels);
}

}  // namespace

bool find_operand(Parser& parser, std::string_view name, InstructionId& out) {
  out.value = parser.scope().names.find(name);
  if (out) return true;
  if (parser.scope().failed.find(name) != SpanTable::none) {
    parser.failed_names_used = true;
    return parser.fail_at(name.data(), ErrorKind::Name, "this operand was not understood");
  }
  return fail_unknown_name(parser, name.data(), "instruction", name, parser.scope().names);
}

bool parse_operands(Parser& parser) {
  std::vector<Level> levels;
  for (;;) {
    while (*parser.at == '%' && levels.empty()) {  // the usual operands: %name, %name)
      ++parser.at;
      if (!parse_named_operand(parser, parser.word_here(), {})) return false;
      if (parser.accept(')')) return true;
      if (!parser.expect(',', "or ')' after an operand")) return false;
      parser.skip();
    }
    // XLA lets a comma stand before the ')'.
    bool opened = false;
    if (!parser.peek(')')) {
      if (!parse_operand(parser, levels, opened)) return false;
      if (opened || parser.accept(',')) continue;
    }
    do {
      if (!parser.expect(')', "or ',' after an operand")) return false;
      if (levels.empty()) return true;
      if (!close_nested(parser, levels)) return false;
    } while (!parser.accept(','));
  }
}

namespace {

// Levenshtein distance, or `limit` when it is at least that.
size_t distance(std::string_view a, std::string_view b, size_t limit) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) >= limit) return limit;
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = above;
    }
  }
  return std::min(limit, row[b.size()]);
}

}  // namespace

bool fail_unknown_name(Parser& parser, const char* at, std::string_view kind, std::string_view name,
                       const SpanTable& known) {
  std::string_view nearest;
  size_t best = std::min<size_t>(name.size(), 5);
  constexpr size_t max_work = 20'000'000;  // a hint must not take long
  if (known.size() * name.size() * name.size() <= max_work)
    known.for_each([&](std::string_view other, uint32_t) {
      const size_t d = distance(name, other, best);
      if (d < best) best = d, nearest = other;
    });
  std::string message = fmt::format("there is no {} named '{}'", kind, name.substr(0, 200));
  if (kind != "opcode") message += " before this";
  if (!nearest.empty()) message += fmt::format("; did you mean '{}'?", nearest);
  return parser.fail_at(at, ErrorKind::Name, std::move(message));
}

}  // namespace hilo

// `[ROOT] [%]name = [shape] opcode(operands), attribute=value, ...`
#include <algorithm>

#include "text/parser.h"

namespace hilo {
namespace {

// Opcodes by their text, and `X-start` etc. for every X that has no native pair.
struct OpText {
  Op op;
  std::optional<Op> async;
};
constexpr bool has_native_pair(std::string_view text) {
  for (std::string_view native :
       {"all-gather", "all-reduce", "collective-permute", "copy", "recv", "send"})
    if (text == native) return true;
  return false;
}
constexpr bool is_async_part(std::string_view text) {
  for (std::string_view end : {"-start", "-update", "-done"})
    if (text.ends_with(end)) return true;
  return false;
}

struct OpTexts {
  SpanTable plain, sugar;  // apart, because the small one stays in the cache
  std::vector<std::string> sugared;
  std::vector<OpText> rows;
  OpTexts() {
    sugared.reserve(static_cast<size_t>(op_count) * 3);
    for (int i = 0; i < op_count; ++i)
      add(plain, text_of(static_cast<Op>(i)), {static_cast<Op>(i), {}});
    constexpr std::pair<std::string_view, Op> parts[] = {
        {"-start", Op::AsyncStart}, {"-update", Op::AsyncUpdate}, {"-done", Op::AsyncDone}};
    for (int i = 0; i < op_count; ++i) {
      const std::string_view text = text_of(static_cast<Op>(i));
      if (has_native_pair(text) || is_async_part(text)) continue;
      for (const auto& [suffix, part] : parts)
        add(sugar, sugared.emplace_back(std::string(text) + std::string(suffix)),
            {static_cast<Op>(i), part});
    }
  }
  void add(SpanTable& table, std::string_view text, OpText row) {
    uint32_t& slot = table[text];
    if (slot != SpanTable::none) return;
    slot = static_cast<uint32_t>(rows.size());
    rows.push_back(row);
  }
};
const OpTexts& op_texts() {
  static const OpTexts texts;
  return texts;
}

bool parse_opcode(Parser& parser, Draft& draft) {
  static const OpTexts& texts = op_texts();
  parser.skip();
  const char* start = parser.at;
  const std::string_view word = parser.word_here();
  uint32_t row = texts.plain.find(word);
  if (row == SpanTable::none) row = texts.sugar.find(word);
  if (row == SpanTable::none) {
    if (word.empty()) return parser.fail_expected("an opcode");
    return fail_unknown_name(parser, start, "opcode", word, texts.plain);
  }
  draft.op = texts.rows[row].op;
  draft.async = texts.rows[row].async;
  parser.op = draft.op;
  return true;
}

bool parse_parameter_number(Parser& parser, Draft& draft) {
  int64_t number;
  const char* start = (parser.skip(), parser.at);
  if (!parser.non_negative(number)) return false;
  if (number >= INT32_MAX)
    return parser.fail_at(start, ErrorKind::Limit,
                          fmt::format("parameter number {} is too large", number));
  parser.module.mutable_attributes<ParameterAttributes>(draft.attributes).number = number;
  return true;
}

// Short literals of the same text and shape are one literal.
bool parse_constant_value(Parser& parser, Draft& draft) {
  parser.skip();
  const char* start = parser.at;
  size_t size = 0;
  while (size < 32 && (is_class(start[size], WordChar))) ++size;
  const bool is_scalar = parser.module.shapes[draft.shape].dims.empty();
  const bool short_text = is_scalar && size > 0 && start[size] == ')';
  const std::string_view raw(start, size);
  const uint64_t hash = hash_of_span(start, size) + draft.shape.value * 0x9e3779b97f4a7c15ull;
  LiteralRef value;
  uint32_t known = short_text ? parser.literals.find(raw, hash) : SpanTable::none;
  if (known != SpanTable::none && parser.literal_shapes[known] == draft.shape) {
    value = parser.literal_values[known];
    parser.at += size;
  } else {
    const Shape shape = parser.module.shapes[draft.shape];
    int64_t left = parser.options.max_literal_bytes - parser.literal_bytes_used;
    const int64_t before = left;
    if (!parse_literal(parser, shape, left, value)) return false;
    parser.literal_bytes_used += before - left;
    if (value.elided)
      parser.warn(start, fmt::format("the value of '{}' is elided as {{...}}; made-up values stand "
                                     "in its place",
                                     draft.name));
    if (short_text && known == SpanTable::none) {
      parser.literals.value(raw, hash) = static_cast<uint32_t>(parser.literal_values.size());
      parser.literal_values.push_back(value);
      parser.literal_shapes.push_back(draft.shape);
    }
  }
  parser.module.mutable_attributes<ConstantAttributes>(draft.attributes).literal = std::move(value);
  return true;
}

bool check_operand_count(Parser& parser, const Draft& draft, size_t count) {
  const int expected = draft.async && *draft.async != Op::AsyncStart ? -1 : info(draft.op).operands;
  if (expected < 0 || static_cast<size_t>(expected) == count) return true;
  return parser.fail(ErrorKind::Shape,
                     fmt::format("{} takes {} operand{}, found {}", text_of(draft.op), expected,
                                 expected == 1 ? "" : "s", count));
}

bool infer(Parser& parser, InstructionId id) {
  Module& module = parser.module;
  const Op op = module[id].op;
  if (!can_infer_shape(op))
    return parser.fail(ErrorKind::Syntax,
                       fmt::format("the result shape of {} must be given", text_of(op)));
  for (ComputationId callee : module.called(module[id]))
    if (parser.broken[callee.value]) {
      parser.failed_names_used = true;
      return parser.fail(ErrorKind::Structure, "a called computation was not understood");
    }
  Result<Shape> shape = infer_shape(module, module[id]);
  if (!shape) return parser.fail(shape.error().kind, shape.error().message);
  module[id].shape = module.shapes.intern(*shape);
  return true;
}

// [ROOT] [%]name =
bool parse_head(Parser& parser, Draft& draft, bool& is_root) {
  parser.skip();
  is_root = parser.at[0] == 'R' && parser.accept_word("ROOT");
  if (is_root && parser.peek('=')) parser.at -= 4, is_root = false;  // an instruction named ROOT
  if (parser.bare && at_shape(parser)) return true;                  // without a name
  if (!parser.name(draft.name, "the name of an instruction")) return false;
  parser.instruction = draft.name;
  return parser.expect('=', "after the name of an instruction");
}

bool define(Parser& parser, std::string_view name, InstructionId id) {
  uint32_t& place = parser.scope().names[name];
  if (place != SpanTable::none)
    return parser.fail_at(name.data(), ErrorKind::Name,
                          fmt::format("there are two instructions named '{}'", name));
  place = id.value;
  return true;
}

}  // namespace

bool parse_leaf(Parser& parser, Draft& draft) {
  if (!draft.shape)
    return parser.fail(ErrorKind::Syntax,
                       fmt::format("the shape of a {} must be given", text_of(draft.op)));
  return draft.op == Op::Parameter ? parse_parameter_number(parser, draft)
                                   : parse_constant_value(parser, draft);
}

bool append_instruction(Parser& parser, Draft& draft, std::span<const InstructionId> operands,
                        InstructionId& out) {
  if (!check_operand_count(parser, draft, operands.size())) return false;
  if (draft.async && !resolve_async(parser, draft, operands)) return false;
  inherit_async(parser, draft, operands);
  Instruction instruction;
  instruction.name = draft.name;
  instruction.op = draft.op;
  instruction.shape = draft.shape;
  instruction.attributes = draft.attributes;
  instruction.extra = draft.extra;
  instruction.metadata = draft.metadata;
  Scope& scope = parser.scope();
  instruction.computation = scope.expected;
  out = parser.module.append_raw(instruction, operands);
  if (!draft.shape && !infer(parser, out)) return false;
  if (draft.op == Op::Parameter) scope.parameters.push_back(out);
  scope.instructions.push_back(out);
  if (draft.name.empty()) scope.unnamed.push_back(out);
  else return define(parser, draft.name, out);
  return true;
}

bool parse_instruction(Parser& parser) {
  Draft draft;
  bool is_root;
  parser.op.reset();
  if (!parse_head(parser, draft, is_root)) return false;
  if (at_shape(parser) && !parse_shape_id(parser, draft.shape)) return false;
  if (!parse_opcode(parser, draft) || !parser.expect('(', "after an opcode")) return false;
  make_attributes(parser, draft);
  const size_t first = parser.operands.size();
  if (is_leaf(draft.op) && !draft.async) {
    if (!parse_leaf(parser, draft) || !parser.expect(')', "after the value")) return false;
  } else if (!parse_operands(parser)) {
    return false;
  }
  if (!parse_attributes(parser, draft)) return false;
  InstructionId id;
  const std::span<const InstructionId> all(parser.operands);
  if (!append_instruction(parser, draft, all.subspan(first), id)) return false;
  parser.operands.resize(first);
  if (is_root && parser.scope().root)
    return parser.fail_at(draft.name.data(), ErrorKind::Structure, "a computation has two roots");
  if (is_root) parser.scope().root = id;
  return true;
}

}  // namespace hilo

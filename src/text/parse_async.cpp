// `X-start(a, b), attributes` is an async-start that calls a computation with one X in it;
// `X-update` and `X-done` continue it. XLA's names for what the sugar hides: async_wrapped,
// async_param, async_op.
#include "text/parser.h"

namespace hilo {
namespace {

// async_wrapped, async_wrapped.1, async_wrapped.2, ..., but those that are taken.
std::string_view next_wrapped_name(Parser& parser) {
  constexpr std::string_view base = "async_wrapped";
  std::string name;
  do {
    const size_t number = parser.sugared_starts++;
    name = number == 0 ? std::string(base) : fmt::format("{}.{}", base, number);
  } while (parser.computations.find(name) != SpanTable::none);
  return parser.strings().copy(name);
}

InstructionId append_parameter(Parser& parser, ComputationId computation, int64_t number,
                               ShapeId shape) {
  Draft draft;
  draft.op = Op::Parameter;
  make_attributes(parser, draft);
  parser.module.mutable_attributes<ParameterAttributes>(draft.attributes).number = number;
  Instruction instruction;
  instruction.name =
      number == 0 ? "async_param" : parser.strings().copy(fmt::format("async_param.{}", number));
  instruction.op = Op::Parameter;
  instruction.shape = shape;
  instruction.computation = computation;
  instruction.attributes = draft.attributes;
  return parser.module.append_raw(instruction, {});
}

// The computation that holds the one instruction of the draft's op, with the draft's attributes.
ComputationId wrap(Parser& parser, const Draft& draft, std::span<const InstructionId> operands,
                   ShapeId result) {
  Module& module = parser.module;
  const ComputationId id = {static_cast<uint32_t>(module.computations.size())};
  Computation computation;
  computation.name = next_wrapped_name(parser);
  for (size_t i = 0; i < operands.size(); ++i)
    computation.parameters.push_back(
        append_parameter(parser, id, static_cast<int64_t>(i), module[operands[i]].shape));
  Instruction instruction;
  instruction.name = "async_op";
  instruction.op = draft.op;
  instruction.shape = result;
  instruction.computation = id;
  instruction.attributes = draft.attributes;
  computation.root = module.append_raw(instruction, computation.parameters);
  computation.instructions = computation.parameters;
  computation.instructions.push_back(computation.root);
  const std::string thread =
      module.mutable_attributes<AsyncAttributes>(draft.async_attributes).async_execution_thread;
  if (!thread.empty()) computation.execution_thread = module.strings.copy(thread);
  parser.computations[computation.name] = id.value;
  module.computations.push_back(std::move(computation));
  return id;
}

bool resolve_start(Parser& parser, Draft& draft, std::span<const InstructionId> operands) {
  if (!draft.shape)
    return parser.fail(ErrorKind::Syntax,
                       fmt::format("the shape of {}-start must be given", text_of(draft.op)));
  const Shape& shape = parser.module.shapes[draft.shape];
  if (!shape.is_tuple() || shape.elements.size() < 2)
    return parser.fail(
        ErrorKind::Shape,
        fmt::format("expected the shape ((operands), result, ...) of {}-start, found {}",
                    text_of(draft.op), to_string_without_layout(shape)));
  const Shape result = shape.elements[1];
  const ComputationId calls = wrap(parser, draft, operands, parser.module.shapes.intern(result));
  parser.module.mutable_attributes<AsyncAttributes>(draft.async_attributes).calls = calls;
  return true;
}

// Updates and dones have the attributes of their start, but for what they say of their own memory.
void take_from_start(Parser& parser, AttributesId id, const AsyncAttributes& start) {
  auto& own = parser.module.mutable_attributes<AsyncAttributes>(id);
  own.calls = start.calls;
  own.async_execution_thread = start.async_execution_thread;
}

bool copy_from_start(Parser& parser, Draft& draft, std::span<const InstructionId> operands) {
  const Module& module = parser.module;
  const Op first = operands.empty() ? Op::Tuple : module[operands[0]].op;
  if (first != Op::AsyncStart && first != Op::AsyncUpdate)
    return parser.fail(
        ErrorKind::Structure,
        fmt::format("the operand of {}-{} is not an async-start or async-update", text_of(draft.op),
                    *draft.async == Op::AsyncDone ? "done" : "update"));
  const AsyncAttributes start = module.attributes<AsyncAttributes>(operands[0]);
  if (start.calls && module[start.calls].root) {
    const Op wrapped = module[module[start.calls].root].op;
    if (wrapped != draft.op)
      return parser.fail(ErrorKind::Structure,
                         fmt::format("this continues a {}, but its start is a {}",
                                     text_of(draft.op), text_of(wrapped)));
  }
  take_from_start(parser, draft.async_attributes, start);
  return true;
}

}  // namespace

bool resolve_async(Parser& parser, Draft& draft, std::span<const InstructionId> operands) {
  const bool resolved = *draft.async == Op::AsyncStart ? resolve_start(parser, draft, operands)
                                                       : copy_from_start(parser, draft, operands);
  draft.op = *draft.async;
  draft.attributes = draft.async_attributes;
  draft.async.reset();
  return resolved;
}

void inherit_async(Parser& parser, const Draft& draft, std::span<const InstructionId> operands) {
  if ((draft.op != Op::AsyncUpdate && draft.op != Op::AsyncDone) || operands.empty()) return;
  const Op before = parser.module[operands[0]].op;
  if (before != Op::AsyncStart && before != Op::AsyncUpdate) return;
  const AsyncAttributes start = parser.module.attributes<AsyncAttributes>(operands[0]);
  take_from_start(parser, draft.attributes, start);
}

}  // namespace hilo

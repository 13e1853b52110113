#include "pass/insertion.h"

#include <algorithm>

namespace hilo {
namespace {

// A number of the program in all places, as zeros that scatters add to.
bool is_broadcast_constant(const Module& module, InstructionId id) {
  if (module[id].op != Op::Broadcast) return false;
  const InstructionId number = module.operand(id, 0);
  return module[number].op == Op::Constant && module.shape(number).is_scalar();
}

}  // namespace

Insertion::Insertion(Module& module)
    : module_(module), before_(module.instructions.size()), at_end_(module.computations.size()) {
  for (const Instruction& instruction : module.instructions) names_.insert(instruction.name);
  for (const Computation& computation : module.computations) names_.insert(computation.name);
}

std::string_view Insertion::unique_name(std::string_view base) {
  while (true) {
    const std::string name = fmt::format("{}.{}", base, ++last_number_);
    if (names_.contains(name)) continue;
    const std::string_view kept = module_.strings.copy(name);
    names_.insert(kept);
    return kept;
  }
}

InstructionId Insertion::add(Op op, const Shape& shape, std::span<const InstructionId> operands,
                             InstructionId like, InstructionId before) {
  Instruction instruction;
  instruction.name = unique_name(text_of(op));
  instruction.op = op;
  instruction.shape = module_.shapes.intern(shape);
  instruction.computation = module_[like].computation;
  instruction.metadata = module_[like].metadata;
  instruction.attributes = module_.default_attributes(op);
  const InstructionId id = module_.append_raw(instruction, operands);
  before_.emplace_back();
  place(id, before);
  if (op == Op::Copy) copies_.push_back(id);
  return id;
}

void Insertion::place(InstructionId id, InstructionId before) {
  if (before) before_[before.value].push_back(id);
  else at_end_[module_[id].computation.value].push_back(id);
}

InstructionId Insertion::element(InstructionId tuple, int64_t number, InstructionId before) {
  if (module_[tuple].op == Op::Tuple) return module_.operand(tuple, static_cast<size_t>(number));
  const Shape shape = module_.shape(tuple).elements[static_cast<size_t>(number)];
  const InstructionId id = add(Op::GetTupleElement, shape, {&tuple, 1}, tuple, before);
  module_.mutable_attributes<GetTupleElementAttributes>(id).index = number;
  return id;
}

// Not made before it is wanted, and nothing is read.
InstructionId Insertion::clone_broadcast(InstructionId broadcast, InstructionId before) {
  const InstructionId number = module_.operand(broadcast, 0);
  return add(Op::Broadcast, module_.shape(broadcast), {&number, 1}, broadcast, before);
}

InstructionId Insertion::copy_parts(InstructionId value, std::span<const Dims> indices,
                                    InstructionId before) {
  const Shape shape = module_.shape(value);
  if (is_broadcast_constant(module_, value)) return clone_broadcast(value, before);
  if (!shape.is_tuple()) return add(Op::Copy, shape, {&value, 1}, value, before);
  std::vector<InstructionId> elements;
  for (int64_t number = 0; number < static_cast<int64_t>(shape.elements.size()); ++number) {
    std::vector<Dims> inside;
    for (const Dims& index : indices)
      if (!index.empty() && index.front() == number)
        inside.emplace_back(index.begin() + 1, index.end());
    InstructionId part = element(value, number, before);
    if (!inside.empty()) part = copy_parts(part, inside, before);
    elements.push_back(part);
  }
  const InstructionId tuple = add(Op::Tuple, shape, elements, value, before);
  if (const auto sharding = module_.extra(module_[value]).sharding)
    module_.mutable_extra(tuple).sharding = sharding;
  return tuple;
}

void Insertion::remove_unused(InstructionId id) {
  std::vector<InstructionId> waiting = {id};
  while (!waiting.empty()) {
    const InstructionId next = waiting.back();
    waiting.pop_back();
    const Instruction& instruction = module_[next];
    if (instruction.removed || module_.has_users(next)) continue;
    if (instruction.op != Op::Tuple && instruction.op != Op::GetTupleElement) continue;
    if (module_[instruction.computation].root == next) continue;
    const auto operands = module_.operands(next);
    waiting.insert(waiting.end(), operands.begin(), operands.end());
    module_.remove(next);
  }
}

void Insertion::finish() {
  for (uint32_t i = 0; i < module_.computations.size(); ++i) {
    std::vector<InstructionId>& list = module_.computations[i].instructions;
    std::vector<InstructionId> out;
    for (InstructionId id : list) {
      out.insert(out.end(), before_[id.value].begin(), before_[id.value].end());
      out.push_back(id);
    }
    out.insert(out.end(), at_end_[i].begin(), at_end_[i].end());
    std::erase_if(out, [&](InstructionId id) { return module_[id].removed; });
    list = std::move(out);
  }
  module_.compact();
}

}  // namespace hilo

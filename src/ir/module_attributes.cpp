// What a module does with attributes of any op: code for every attribute struct, written once.
#include "ir/calling_ops.h"

namespace hilo {

AttributesId Module::default_attributes(Op op) {
  return visit_attributes_type(op,
                               [&]<class A>(std::type_identity<A>) { return add_attributes(A()); });
}

AttributesId Module::copy_attributes(Op op, AttributesId from) {
  return visit_attributes_type(op, [&]<class A>(std::type_identity<A>) {
    return add_attributes(A(mutable_attributes<A>(from)));
  });
}

namespace {

template <class Value, class Body>
void for_each_called(Value& value, Body& body) {
  using Field = std::remove_const_t<Value>;
  if constexpr (std::is_same_v<Field, ComputationId>) {
    if (value) body(value);
  } else if constexpr (std::is_same_v<Field, std::vector<ComputationId>>) {
    for (auto& id : value) body(id);
  }
}
template <class A, class Body>
void for_each_called_of(A& attributes, Body& body) {
  std::apply([&](const auto&... field) { (for_each_called(attributes.*field.member, body), ...); },
             A::fields());
}

}  // namespace

std::vector<ComputationId> Module::called(const Instruction& instruction) const {
  std::vector<ComputationId> out;
  if (!may_call(instruction.op) || !instruction.attributes) return out;
  const auto append = [&](ComputationId id) { out.push_back(id); };
  visit_attributes_type(instruction.op, [&]<class A>(std::type_identity<A>) {
    for_each_called_of(attributes<A>(instruction), append);
  });
  return out;
}

std::string_view Module::lost_id(const Instruction& instruction) const {
  const auto is_lost = [](auto id, size_t count) { return id && id.value >= count; };
  if (!instruction.shape || is_lost(instruction.shape, shapes.size())) return "shape";
  if (is_lost(instruction.extra, extras.size())) return "extra";
  if (is_lost(instruction.metadata, metadata.size())) return "metadata";
  if (instruction.operand_count > operands_.size() ||
      instruction.first_operand > operands_.size() - instruction.operand_count)
    return "operands";
  const size_t attributes = visit_attributes_type(
      instruction.op,
      [&]<class A>(std::type_identity<A>) { return std::get<std::vector<A>>(pools_).size(); });
  if (is_lost(instruction.attributes, attributes)) return "attributes";
  for (ComputationId id : called(instruction))
    if (!id || id.value >= computations.size()) return "called computation";
  return {};
}

void Module::set_called(InstructionId id, std::span<const ComputationId> computations) {
  size_t next = 0;
  const auto set = [&](ComputationId& place) { place = computations[next++]; };
  visit_attributes_type((*this)[id].op, [&]<class A>(std::type_identity<A>) {
    for_each_called_of(mutable_attributes<A>(id), set);
  });
}

}  // namespace hilo

#include "rewrite/effects.h"

#include <algorithm>

namespace hilo {
namespace {

bool has_channel(const Module& module, const Instruction& instruction) {
  return visit_attributes_type(instruction.op, [&]<class A>(std::type_identity<A>) {
    if constexpr (requires(A a) { a.channel_id; })
      return module.attributes<A>(instruction).channel_id.has_value();
    return false;
  });
}

// Callees of these ops run in another place or have a fixed form.
constexpr Op closed[] = {Op::Fusion, Op::AsyncStart, Op::AsyncUpdate, Op::AsyncDone,
                         Op::CustomCall};

}  // namespace

bool is_communication(Op op) { return has_trait(op, TraitEffect | TraitCollective); }

Effects::Effects(const Module& module)
    : module_(module), of_computation_(module.computations.size(), true) {
  for (ComputationId id : module.post_order()) {
    bool found = false;
    for (InstructionId instruction : module[id].instructions)
      found = found || (!module[instruction].removed && has(module[instruction]));
    of_computation_[id.value] = found;
  }
}

bool Effects::has(InstructionId id) const { return has(module_[id]); }

bool Effects::has(const Instruction& instruction) const {
  const Op op = instruction.op;
  if (has_trait(op, TraitEffect)) return true;
  if (has_trait(op, TraitCollective) && has_channel(module_, instruction)) return true;
  if (op == Op::CustomCall &&
      module_.attributes<CustomCallAttributes>(instruction).custom_call_has_side_effect)
    return true;
  if (is_elementwise(op)) return false;
  for (ComputationId callee : module_.called(instruction))
    if (has(callee)) return true;
  return false;
}

std::vector<ComputationId> open_computations(const Module& module) {
  std::vector<ComputationId> order = module.post_order();
  std::vector<bool> shut(module.computations.size());
  for (size_t i = order.size(); i-- > 0;)  // callers before callees
    for (InstructionId id : module[order[i]].instructions) {
      const Instruction& instruction = module[id];
      if (instruction.removed || is_elementwise(instruction.op)) continue;
      if (shut[order[i].value] || std::ranges::find(closed, instruction.op) != std::end(closed))
        for (ComputationId callee : module.called(instruction)) shut[callee.value] = true;
    }
  std::erase_if(order, [&](ComputationId id) { return shut[id.value]; });
  return order;
}

}  // namespace hilo

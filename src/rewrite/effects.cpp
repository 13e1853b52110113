#include "rewrite/effects.h"

#include <algorithm>

namespace hilo {
namespace {

// Ops with an effect whatever their attributes say.
constexpr Op always[] = {Op::Send,
                         Op::SendDone,
                         Op::Recv,
                         Op::RecvDone,
                         Op::Infeed,
                         Op::Outfeed,
                         Op::Rng,
                         Op::RngGetAndUpdateState,
                         Op::AsyncStart,
                         Op::AsyncUpdate,
                         Op::AsyncDone,
                         Op::CopyStart,
                         Op::CopyDone,
                         Op::AllGatherStart,
                         Op::AllGatherDone,
                         Op::AllReduceStart,
                         Op::AllReduceDone,
                         Op::CollectivePermuteStart,
                         Op::CollectivePermuteDone};
constexpr Op collectives[] = {Op::AllGather,         Op::AllReduce,           Op::AllToAll,
                              Op::CollectivePermute, Op::CollectiveBroadcast, Op::RaggedAllToAll,
                              Op::ReduceScatter};

template <class T>
bool is_in(const T& list, Op op) {
  return std::ranges::find(list, op) != std::end(list);
}

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

bool is_communication(Op op) { return is_in(collectives, op) || is_in(always, op); }

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
  if (is_in(always, op)) return true;
  if (is_in(collectives, op) && has_channel(module_, instruction)) return true;
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
      if (shut[order[i].value] || is_in(closed, instruction.op))
        for (ComputationId callee : module.called(instruction)) shut[callee.value] = true;
    }
  std::erase_if(order, [&](ComputationId id) { return shut[id.value]; });
  return order;
}

}  // namespace hilo

// Reshardings that several users share: who reads a value later may need a sharding of it that an
// earlier user can have for nothing.
#include <algorithm>

#include "pass/shard/op_partition.h"

namespace hilo {
namespace {

// Ops whose local form is the op itself, so that asking writes no code.
bool is_asked(Op op) {
  const PartitionFunction function = partition_function(op);
  return function == partition_elementwise || function == partition_Dot;
}

}  // namespace

std::vector<AxisSharding> Partitioner::at_hand(InstructionId value, InstructionId but) {
  std::vector<AxisSharding> out;
  if (!module().shape(value).is_array() || module().shape(value).is_scalar()) return out;
  if (!has_shards(value)) return out;
  const Shard& shard = shards(value)[0];
  for (const SharedSharding& one : brought_already(shard)) out.push_back(one);
  std::vector<SharedSharding> wished;  // each once: what many users share is one
  const auto add = [&](const SharedSharding& wish) {
    if (std::ranges::find(wished, wish) == wished.end()) wished.push_back(wish);
  };
  for (InstructionId user : module().users(value)) {
    if (user == but || has_shards(user)) continue;
    if (module()[user].op == Op::Call)
      for (size_t i = 0; i < module()[user].operand_count; ++i)
        if (module().operand(user, i) == value)
          std::ranges::for_each(brought_by_callee(user, i), add);
    if (!is_asked(module()[user].op)) continue;
    const std::vector<SharedSharding>& wishes = wishes_of(user);
    for (size_t i = 0; i < wishes.size(); ++i)
      if (module().operand(user, i) == value) add(wishes[i]);
  }
  out.insert(out.end(), wished.begin(), wished.end());
  std::erase(out, shard.sharding);
  return out;
}

// What a callee takes an array as, and what it brings it to: once the call is inlined, that is done
// where the caller does the same.
std::vector<SharedSharding> Partitioner::brought_by_callee(InstructionId user, size_t i) {
  const Shard& taken = callee(module().attributes<CallAttributes>(user).to_apply).parameters[i][0];
  std::vector<SharedSharding> out = brought_already(taken);
  out.insert(out.begin(), taken.sharding);
  return out;
}

std::vector<SharedSharding> Partitioner::brought_already(const Shard& shard) {
  std::vector<SharedSharding> out;
  for (const Known& known : resharded_[shard.id.value])
    if (known.sharding == shard.sharding && known.other.shape == shard.shape)
      out.push_back(known.other.sharding);
  return out;
}

// Asked for anew only where more operands have been visited.
const std::vector<SharedSharding>& Partitioner::wishes_of(InstructionId user) {
  const auto is_visited = [&](InstructionId operand) { return has_shards(operand); };
  const auto visited =
      static_cast<size_t>(std::ranges::count_if(module().operands(user), is_visited));
  const auto [known, is_new] = wishes_.try_emplace(user.value);
  if (is_new || known->second.visited_operands != visited)
    known->second = {visited, OpPartition(*this, user).wishes()};
  return known->second.of_operands;
}

bool OpPartition::find_at_hand(RoleQuestion& question) {
  bool found = false;
  size_t leaf = 0;
  for (size_t i = 0; i < operand_count(); ++i) {
    if (operand_shape(i).is_array()) {
      auto& at_hand = question.operands[leaf].at_hand;
      at_hand = partitioner_.at_hand(operand(i), global_);
      found |= !at_hand.empty();
    }
    leaf += static_cast<size_t>(leaf_count(operand_shape(i)));
  }
  return found;
}

std::vector<SharedSharding> OpPartition::wishes() {
  const auto result = partitioner_.stated(global_);
  if (!result || result->size() != 1) return {};
  Shards operands;
  for (size_t i = 0; i < operand_count(); ++i) {
    if (partitioner_.has_shards(operand(i))) {
      operands.push_back(operand_shards(i)[0]);
      continue;
    }
    const auto stated = partitioner_.stated(operand(i));
    if (!stated || stated->size() != 1) return {};
    operands.push_back({{}, (*stated)[0], partitioner_.leaves(operand(i))[0]});
  }
  const LocalForm form;
  const RoleQuestion asked = question(form, operands, *result);
  return partitioner_.roles(rule(), asked).operands;
}

}  // namespace hilo

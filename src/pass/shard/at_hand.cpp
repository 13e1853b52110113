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
  for (const Known& known : resharded_[shard.id.value])
    if (known.sharding == shard.sharding && known.other.shape == shard.shape)
      out.push_back(known.other.sharding);
  for (InstructionId user : module().users(value)) {
    if (user == but || has_shards(user) || !is_asked(module()[user].op)) continue;
    OpPartition(*this, user).add_wishes(value, out);
  }
  std::erase(out, shard.sharding);
  return out;
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

void OpPartition::add_wishes(InstructionId value, std::vector<AxisSharding>& out) {
  const auto result = partitioner_.stated(global_);
  if (!result || result->size() != 1) return;
  Shards operands;
  for (size_t i = 0; i < operand_count(); ++i) {
    if (partitioner_.has_shards(operand(i))) {
      operands.push_back(operand_shards(i)[0]);
      continue;
    }
    const auto stated = partitioner_.stated(operand(i));
    if (!stated || stated->size() != 1) return;
    operands.push_back({{}, (*stated)[0], partitioner_.leaves(operand(i))[0]});
  }
  const LocalForm form;
  const RoleQuestion asked = question(form, operands, *result);
  const Partitioner::Choice& choice = partitioner_.roles(rule(), asked);
  for (size_t i = 0; i < operands.size(); ++i)
    if (operand(i) == value) out.push_back(choice.operands[i]);
}

}  // namespace hilo

// Control flow and tuples: values pass, brought to the shardings of the computations that they go
// into.
#include <algorithm>

#include "pass/shard/op_partition.h"

namespace hilo {
namespace {

// The operand as one local value, its leaves in these shardings.
Result<InstructionId> operand_as(OpPartition& op, size_t i, const Shards& like) {
  std::vector<InstructionId> leaves;
  const Shards tiles = op.operand_shards(i);
  for (size_t leaf = 0; leaf < tiles.size(); ++leaf) {
    HILO_TRY(const InstructionId id, op.partitioner().resharded(tiles[leaf], like[leaf].sharding));
    leaves.push_back(id);
  }
  return op.partitioner().joined(op.operand_shape(i), leaves);
}

std::vector<SharedSharding> shardings_of(const Shards& tiles) {
  std::vector<SharedSharding> out;
  for (const Shard& tile : tiles) out.push_back(tile.sharding);
  return out;
}

// The instruction with other operands, calling the new computations.
Result<Shards> call(OpPartition& op, std::span<const InstructionId> operands,
                    const Shards& result) {
  const InstructionId out = op.clone_value(operands, shardings_of(result));
  std::vector<ComputationId> callees;
  for (ComputationId callee : op.module().called(op.module()[op.id()]))
    callees.push_back(op.partitioner().callee(callee).local);
  op.module().set_called(out, callees);
  const std::vector<InstructionId> leaves = op.partitioner().split(out);
  Shards tiles = result;
  for (size_t i = 0; i < leaves.size(); ++i) tiles[i].id = leaves[i];
  return op.as_stated(std::move(tiles));
}

// A scalar that every device decides alike.
Result<InstructionId> decision(OpPartition& op, size_t i) {
  const Shard tile = op.operand_shards(i)[0];
  AxisSharding whole = tile.sharding;
  whole.unreduced.clear();
  return op.partitioner().resharded(tile, whole);
}

}  // namespace

Result<Shards> partition_Parameter(OpPartition& op) { return op.partitioner().parameter(op.id()); }

Result<Shards> partition_Tuple(OpPartition& op) {
  Shards out;
  for (size_t i = 0; i < op.operand_count(); ++i)
    out.insert(out.end(), op.operand_shards(i).begin(), op.operand_shards(i).end());
  return op.as_stated(std::move(out));
}

Result<Shards> partition_GetTupleElement(OpPartition& op) {
  const int64_t index = op.attributes<GetTupleElementAttributes>().index;
  int64_t first = 0;
  for (int64_t i = 0; i < index; ++i) first += leaf_count(op.operand_shape(0).elements[i]);
  const Shards& all = op.operand_shards(0);
  return op.as_stated({all.begin() + first, all.begin() + first + leaf_count(op.shape())});
}

Result<Shards> partition_OptimizationBarrier(OpPartition& op) {
  Shards tiles;
  std::vector<InstructionId> operands;
  for (size_t i = 0; i < op.operand_count(); ++i) {
    const Shards& one = op.operand_shards(i);
    HILO_TRY(const InstructionId value, operand_as(op, i, one));
    operands.push_back(value);
    tiles.insert(tiles.end(), one.begin(), one.end());
  }
  const auto leaves = op.clone(operands, shardings_of(tiles));
  for (size_t i = 0; i < leaves.size(); ++i) tiles[i].id = leaves[i];
  return op.as_stated(std::move(tiles));
}

Result<Shards> partition_AfterAll(OpPartition& op) { return op.replicated(); }
Result<Shards> partition_AddDependency(OpPartition& op) {
  const Shards tiles = op.operand_shards(0);
  HILO_TRY(const InstructionId value, operand_as(op, 0, tiles));
  HILO_TRY(const InstructionId token, operand_as(op, 1, op.operand_shards(1)));
  const auto leaves = op.clone(std::array{value, token}, shardings_of(tiles));
  Shards out = tiles;
  for (size_t i = 0; i < leaves.size(); ++i) out[i].id = leaves[i];
  return op.as_stated(std::move(out));
}
Result<Shards> partition_Domain(OpPartition& op) { return op.as_stated(op.operand_shards(0)); }

Result<Shards> partition_Call(OpPartition& op) {
  const auto& callee = op.partitioner().callee(op.attributes<CallAttributes>().to_apply);
  std::vector<InstructionId> operands;
  for (size_t i = 0; i < op.operand_count(); ++i) {
    HILO_TRY(const InstructionId value, operand_as(op, i, callee.parameters[i]));
    operands.push_back(value);
  }
  return call(op, operands, callee.result);
}

Result<Shards> partition_While(OpPartition& op) {
  const auto& body = op.partitioner().callee(op.attributes<WhileAttributes>().body);
  HILO_TRY(const InstructionId initial, operand_as(op, 0, body.parameters[0]));
  return call(op, std::array{initial}, body.result);
}

Result<Shards> partition_Conditional(OpPartition& op) {
  const auto branches = op.module().called(op.module()[op.id()]);
  HILO_TRY(const InstructionId index, decision(op, 0));
  std::vector<InstructionId> operands = {index};
  for (size_t i = 0; i < branches.size(); ++i) {
    HILO_TRY(const InstructionId value,
             operand_as(op, i + 1, op.partitioner().callee(branches[i]).parameters[0]));
    operands.push_back(value);
  }
  return call(op, operands, op.partitioner().callee(branches[0]).result);
}

Result<Shards> partition_Fusion(OpPartition& op) { return op.replicated(); }

}  // namespace hilo

// Random numbers. Those that follow from a state are the same on all devices, which each take their
// tile. Those that a device draws are its own: tiles of others are others', and devices that hold
// the same tile get it from the first of them.
#include "pass/shard/op_partition.h"

namespace hilo {

Result<Shards> partition_RngBitGenerator(OpPartition& op) { return op.replicated(); }
Result<Shards> partition_RngGetAndUpdateState(OpPartition& op) { return op.replicated(); }

Result<Shards> partition_Rng(OpPartition& op) {
  HILO_TRY(const std::vector<SharedSharding> wanted, op.wanted());
  AxisSharding sharding = wanted[0];
  sharding.unreduced.clear();
  sharding.unreduced_op.clear();
  HILO_TRY(const std::vector<InstructionId> operands, op.whole_operands());
  InstructionId tile = op.clone_value(operands, std::array{SharedSharding(sharding)});
  const Mesh& mesh = *sharding.mesh;
  SubAxes different = sharding.axes();
  different.insert(different.end(), sharding.manual.begin(), sharding.manual.end());
  const SubAxes alike = axes_outside(mesh, split_mesh(mesh, different), different);
  if (axes_size(alike) > 1)
    tile = op.code().broadcast_from_first(tile, mesh, alike, op.partitioner().next_channel());
  return op.as_stated({{tile, std::move(sharding), op.shape()}});
}

}  // namespace hilo

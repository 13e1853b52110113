// One program for all devices.
//
// What: each array becomes the tile that a device holds, and what tiles lack comes by collectives.
//   tile of op(x) = local op(tiles of x), summed up along the axes that are reduced
// Assumes: shardings as sharding-propagation leaves them; arrays without one are cut as suits their
// neighbours. Promises: the same values, up to the order of sums; shapes are local, and parameters
// and the result still say the shardings of the whole arrays.
#include "pass/pass.h"
#include "pass/shard/given_shardings.h"
#include "pass/shard/local_summands.h"
#include "pass/shard/partitioner.h"

namespace hilo {

namespace {

// The one that the program names, or one over which its tiles can be said.
Result<SharedMesh> mesh_of_program(const Module& module) {
  HILO_TRY(const ShardyMeshes meshes, named_meshes(module));
  for (const auto& [name, mesh] : meshes)
    if (!is_single_device(*mesh) && mesh_size(*mesh) == module.header.num_partitions) return mesh;
  return mesh_of_tiles(module, module.header.num_partitions);
}

// Whether a loop or branch shares a computation, whose values would need the shardings of both.
bool shares_bodies(const Module& module) {
  const std::vector<int> callers = count_callers(module);
  for (ComputationId computation : module.post_order())
    for (InstructionId id : module[computation].instructions)
      if (module[id].op == Op::While || module[id].op == Op::Conditional)
        for (ComputationId callee : module.called(module[id]))
          if (callers[callee.value] > 1) return true;
  return false;
}

}  // namespace

Result<bool> partition_program(Module& module, const PassOptions& options) {
  if (module.header.num_partitions <= 1) return false;
  // What nobody reads may have no place in a region, and so no meaning: a partition's number.
  HILO_DO(run_pass(module, remove_dead, options));
  if (shares_bodies(module)) HILO_DO(run_pass(module, flatten_calls, options));
  HILO_TRY(const SharedMesh mesh, mesh_of_program(module));
  work_on_summands(module, mesh);
  HILO_DO(Partitioner(module, options, mesh).run());
  return true;
}

}  // namespace hilo

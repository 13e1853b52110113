// One program for all devices.
//
// What: each array becomes the tile that a device holds, and what tiles lack comes by collectives.
//   tile of op(x) = local op(tiles of x), summed up along the axes that are reduced
// Assumes: shardings as sharding-propagation leaves them; arrays without one are cut as suits their
// neighbours. Promises: the same values, up to the order of sums; shapes are local, and parameters
// and the result still say the shardings of the whole arrays.
#include "pass/pass.h"
#include "pass/shard/partitioner.h"

namespace hilo {

Result<bool> partition_program(Module& module, const PassOptions& options) {
  if (module.header.num_partitions <= 1) return false;
  HILO_DO(Partitioner(module, options, flat_mesh(module.header.num_partitions)).run());
  return true;
}

}  // namespace hilo

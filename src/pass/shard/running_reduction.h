// Reductions of all rows up to each one, over tiles: each device reduces its own, and what stands
// before a tile is a scan over the devices of what tiles come to. Private to `pass/shard`.
#pragma once

#include "pass/shard/op_partition.h"

namespace hilo {

struct RunningDim {
  size_t dim = 0;
  bool from_end = false;  // of all rows from each one on
};
// Windows in one dimension alone, of which each reaches to the end of the array.
std::optional<RunningDim> find_running(const Window& window, const Shape& operand,
                                       const Shape& result);

// Bytes that a device sends, each collective counted as one more.
double bytes_to_run(const Shape& tile, size_t dim, int64_t tiles);
// `own` runs over the device's rows; each result begins with `initial`.
InstructionId run_over_tiles(OpPartition& op, const RunningDim& running, const Shard& own,
                             Op combiner, InstructionId initial, InstructionId neutral);

}  // namespace hilo

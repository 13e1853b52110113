// Custom calls that one device runs alone. Private to `pass/shard`.
#pragma once

#include "pass/shard/op_partition.h"

namespace hilo {

// The device that a custom call's sharding names ({maximal device=3}); of effects that nobody has
// given a device, the first.
std::optional<int64_t> only_device(OpPartition& op);
// Structure where there is no such device.
Result<Shards> on_device(OpPartition& op, int64_t device);

}  // namespace hilo

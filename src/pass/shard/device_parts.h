// What each device of a group has found in its tile, brought together on all of them. Private to
// `pass/shard`.
#pragma once

#include "pass/shard/op_partition.h"

namespace hilo {

// All axes of the factors, one factor's behind the other's.
SubAxes axes_of(const Roles& roles, std::span<const size_t> factors);
// [devices, dims]: the parts of the devices that differ along the axes, in their order. `part`: one
// of them, and what it is a tile of beside.
Result<InstructionId> gathered_parts(OpPartition& op, const Shard& part, const SubAxes& axes);
// What a device sends where each has, as its part, a result's tile for all leaves.
double bytes_to_gather(OpPartition& op, const Roles& roles, const SubAxes& axes);
// The same for parts of another size in the last dimension.
double bytes_to_gather(OpPartition& op, const Roles& roles, const SubAxes& axes, int64_t last);

}  // namespace hilo

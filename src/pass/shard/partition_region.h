// SPMDFullToShardShape and SPMDShardToFullShape. Private to `pass/shard`.
#pragma once

#include "pass/shard/op_partition.h"

namespace hilo {

// A manual region begins or ends: tiles stay, other dimensions describe them. What is no element of
// the whole array is zero in the region. Shape where what is stated does not cut the array into
// the shape inside; Structure where manual axes do not stand in front of others.
Result<Shards> cross_region(OpPartition& op, bool begins);

}  // namespace hilo

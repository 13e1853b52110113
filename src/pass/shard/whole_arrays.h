// Ops of which no array is cut. Private to `pass/shard`.
#pragma once

#include "pass/shard/op_partition.h"

namespace hilo {

// The op on whole arrays, where it has such and is to give such: no roles cost less, for nothing is
// sent. Nothing where an array is cut. Of ops from arrays to one array.
Result<std::optional<Shards>> on_whole_arrays(OpPartition& op);

}  // namespace hilo

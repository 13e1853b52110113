// The best elements of rows. Private to `pass/shard`.
#pragma once

#include "pass/shard/op_partition.h"

namespace hilo {

// An instruction whose results are, of each row of its one operand, the k first elements in order
// and their numbers.
Result<Shards> partition_top_k(OpPartition& op, int64_t k, bool largest);

}  // namespace hilo

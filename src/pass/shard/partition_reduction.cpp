// Windows and scans: dimensions that are not reduced are local.
#include "pass/shard/op_partition.h"

namespace hilo {

Result<Shards> partition_ReduceWindow(OpPartition& op) { return op.by_factors(); }
Result<Shards> partition_Scan(OpPartition& op) { return op.by_factors(); }
Result<Shards> partition_SelectAndScatter(OpPartition& op) { return op.by_factors(); }

}  // namespace hilo

// Products and linear algebra: batches are local, contracted dimensions give summands.
#include "pass/shard/op_partition.h"

namespace hilo {
namespace {

// Only dimensions that nothing is summed over.
Result<Shards> by_passing_factors(OpPartition& op) {
  LocalForm form;
  form.may_shard = [&op](size_t factor) {
    return op.factors().factors[factor].kind == ShardingFactor::Kind::Pass;
  };
  return op.by_factors(form);
}

}  // namespace

Result<Shards> partition_Dot(OpPartition& op) { return op.by_factors(); }
Result<Shards> partition_RaggedDot(OpPartition& op) { return op.replicated(); }
Result<Shards> partition_ScaledDot(OpPartition& op) { return op.replicated(); }
Result<Shards> partition_BatchNormGrad(OpPartition& op) { return op.replicated(); }
Result<Shards> partition_BatchNormInference(OpPartition& op) { return by_passing_factors(op); }
Result<Shards> partition_BatchNormTraining(OpPartition& op) { return op.replicated(); }
Result<Shards> partition_Cholesky(OpPartition& op) { return by_passing_factors(op); }
Result<Shards> partition_TriangularSolve(OpPartition& op) { return by_passing_factors(op); }

}  // namespace hilo

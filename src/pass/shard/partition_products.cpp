// Products and linear algebra: batches are local, contracted dimensions give summands.
#include <algorithm>

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
Result<Shards> partition_ScaledDot(OpPartition& op) { return by_passing_factors(op); }
Result<Shards> partition_BatchNormInference(OpPartition& op) { return by_passing_factors(op); }
Result<Shards> partition_Cholesky(OpPartition& op) { return by_passing_factors(op); }
Result<Shards> partition_TriangularSolve(OpPartition& op) { return by_passing_factors(op); }

// Rows of the ragged dimension belong to groups by their number in the whole array.
Result<Shards> partition_RaggedDot(OpPartition& op) {
  const auto& attributes = op.attributes<RaggedDotAttributes>();
  const ShardingFactors& factors = op.factors();
  const auto holds = [](const DimensionFactors& dims, size_t factor) {
    return std::ranges::any_of(
        dims, [&](const auto& dim) { return std::ranges::count(dim, factor) > 0; });
  };
  const size_t ragged_dim = attributes.lhs_ragged_dims[0];
  LocalForm form;
  form.may_shard = [&](size_t factor) {
    const bool in_lhs = holds(factors.operands[0], factor),
               in_rhs = holds(factors.operands[1], factor);
    if (std::ranges::count(factors.operands[0][ragged_dim], factor) > 0) return false;
    if (holds(factors.operands[2], factor)) return false;
    const bool in_result = holds(factors.results[0], factor);
    switch (factors.factors[factor].kind) {
      case ShardingFactor::Kind::Pass: return in_result && (in_lhs || in_rhs);
      case ShardingFactor::Kind::Reduction: return in_lhs && in_rhs && !in_result;
      default: return false;
    }
  };
  return op.by_factors(form);
}

}  // namespace hilo

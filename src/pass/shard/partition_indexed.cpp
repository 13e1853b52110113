// Ops whose offsets are data. Dimensions that are read or written whole are local.
#include <algorithm>

#include "pass/shard/op_partition.h"

namespace hilo {
namespace {

using Kind = ShardingFactor::Kind;

}  // namespace

Result<Shards> partition_DynamicSlice(OpPartition& op) {
  LocalForm form;
  form.emit = [&op](const LocalOperands& local) -> Result<std::vector<InstructionId>> {
    const InstructionId out = op.clone_value(local.ids(), local.results);
    const Dims sizes = op.module().shape(out).dims;
    op.module().mutable_attributes<DynamicSliceAttributes>(out).dynamic_slice_sizes = sizes;
    return std::vector{out};
  };
  return op.by_factors(form);
}

Result<Shards> partition_DynamicUpdateSlice(OpPartition& op) {
  LocalForm form;
  const Dims whole = op.operand_shape(0).dims, update = op.operand_shape(1).dims;
  form.may_shard = [&op, whole, update](size_t factor) {
    for (size_t array : {0, 1})
      for (size_t dim = 0; dim < whole.size(); ++dim)
        if (std::ranges::count(op.factors().operands[array][dim], factor) > 0 &&
            whole[dim] != update[dim])
          return false;
    return op.factors().factors[factor].kind == Kind::Pass;
  };
  return op.by_factors(form);
}

Result<Shards> partition_Gather(OpPartition& op) {
  LocalForm form;
  form.may_shard = [&op](size_t factor) { return op.factors().factors[factor].kind == Kind::Pass; };
  form.emit = [&op](const LocalOperands& local) -> Result<std::vector<InstructionId>> {
    const InstructionId out = op.clone_value(local.ids(), local.results);
    const Dims whole = op.operand_shape(0).dims;
    const Dims tile = op.module().shape(local.operands[0].id).dims;
    Dims& sizes = op.module().mutable_attributes<GatherAttributes>(out).slice_sizes;
    for (size_t dim = 0; dim < whole.size(); ++dim)
      if (sizes[dim] == whole[dim]) sizes[dim] = tile[dim];
    return std::vector{out};
  };
  return op.by_factors(form);
}

// Rows of padding would be written: updates are cut evenly.
Result<Shards> partition_Scatter(OpPartition& op) {
  LocalForm form;
  form.may_shard = [&op](size_t factor) { return op.factors().factors[factor].kind == Kind::Pass; };
  form.even_alone = [](size_t) { return true; };
  return op.by_factors(form);
}

}  // namespace hilo

// Reductions, windows, sorts: dimensions that are not reduced are local.
#include <algorithm>

#include "pass/shard/identity_element.h"
#include "pass/shard/op_partition.h"

namespace hilo {
namespace {

using Kind = ShardingFactor::Kind;

bool is_unsharded(const Roles& roles, const ShardingFactors& factors, Kind kind) {
  for (size_t i = 0; i < roles.axes.size(); ++i)
    if (factors.factors[i].kind == kind && !roles.axes[i].empty()) return false;
  return true;
}

// The initial value on the first device of each group, the neutral element on the others.
InstructionId initial_once(OpPartition& op, InstructionId initial, InstructionId neutral,
                           const AxisSharding& result) {
  LocalCode code = op.code();
  const InstructionId is_first = code.compare(code.coordinate(*result.mesh, result.unreduced),
                                              code.number(0), ComparisonDirection::Eq);
  return code.select(is_first, initial, neutral);
}

}  // namespace

Result<Shards> partition_Reduce(OpPartition& op) {
  const auto combiner = find_combiner(op.module(), op.attributes<ReduceAttributes>().to_apply);
  const Op monoid = combiner ? op.module()[combiner->instruction].op : Op::Tuple;
  const auto neutral = identity_element(monoid, op.operand_shape(0).type);
  LocalForm form;
  form.reduction = reduction_name(monoid);
  const bool can_split = op.operand_count() == 2 && neutral && !form.reduction.empty();
  form.may_shard = [&op, can_split](size_t factor) {
    const Kind kind = op.factors().factors[factor].kind;
    return kind == Kind::Pass || (kind == Kind::Reduction && can_split);
  };
  form.emit = [&](const LocalOperands& local) -> Result<std::vector<InstructionId>> {
    std::vector<InstructionId> operands = local.ids();
    if (!is_unsharded(local.roles, op.factors(), Kind::Reduction)) {
      LocalCode code = op.code();
      const InstructionId filling = code.constant(*neutral);
      operands[0] = op.masked(local.operands[0], op.dims_of(0, Kind::Reduction), filling);
      operands[1] = initial_once(op, operands[1], filling, local.results[0]);
    }
    return op.clone(operands, local.results);
  };
  return op.by_factors(form);
}

Result<Shards> partition_ReduceWindow(OpPartition& op) { return op.by_factors(); }
Result<Shards> partition_Scan(OpPartition& op) { return op.by_factors(); }
Result<Shards> partition_SelectAndScatter(OpPartition& op) { return op.by_factors(); }
Result<Shards> partition_Sort(OpPartition& op) { return op.by_factors(); }
Result<Shards> partition_TopK(OpPartition& op) { return op.by_factors(); }

}  // namespace hilo

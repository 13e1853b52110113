// collective_reduce, which HLO has not: the sum of all, kept where the root is, zeros elsewhere.
#include "wire/stablehlo/op_rules.h"

namespace hilo::mlir {
namespace {

// Groups hold ids of replicas, or with a channel of partitions, those of each replica apart. An
// all-reduce with a channel joins replicas; so ids become global ones.
Result<void> make_global(const Step& step, AllReduceAttributes& a) {
  const ModuleHeader& header = step.converter.module.header;
  if (!a.channel_id || a.use_global_device_ids) return {};
  a.use_global_device_ids = true;
  if (header.replica_count == 1) return {};
  if (a.replica_groups.form != ReplicaGroups::Form::Explicit || a.replica_groups.groups.empty())
    return fail(ErrorKind::Unsupported, "groups of partitions that are not listed, of {} replicas",
                header.replica_count);
  const std::vector<Dims> groups = std::move(a.replica_groups.groups);
  a.replica_groups.groups.clear();
  for (int64_t replica = 0; replica < header.replica_count; ++replica)
    for (Dims group : groups) {
      for (int64_t& id : group) id += replica * header.num_partitions;
      a.replica_groups.groups.push_back(std::move(group));
    }
  return {};
}

// Whether the device is its group's root for operand i. The root says its id plus 1 to all; who is
// in no group gets 0.
Result<InstructionId> is_root(Step& step, const CollectiveBroadcastAttributes& how,
                              InstructionId self, size_t i) {
  std::vector<InstructionId> sent = {self};
  if (how.has_dynamic_root) {
    SliceAttributes one;
    one.slice.dims = {{static_cast<int64_t>(i), static_cast<int64_t>(i) + 1, 1}};
    HILO_TRY(sent.emplace_back(), step.add(Op::Slice, {step.operands.back()}, std::move(one)));
  }
  HILO_TRY(const InstructionId root, step.add(Op::CollectiveBroadcast, sent, how));
  return step.add(Op::Compare, {self, root}, CompareAttributes{ComparisonDirection::Eq, {}, {}});
}

}  // namespace

Result<void> convert_collective_reduce(Step& step) {
  CollectiveBroadcastAttributes how;
  HILO_TRY(how.has_dynamic_root, step.flag("has_dynamic_root"));
  HILO_DO(need_roots(step));
  HILO_TRY(how.replica_groups, replica_groups_of(step));
  HILO_TRY(const int64_t channel, step.integer("channel_id", 0));
  if (channel > 0) how.channel_id = channel;
  AllReduceAttributes a;
  a.channel_id = how.channel_id;
  a.replica_groups = how.replica_groups;
  HILO_TRY(a.use_global_device_ids, step.flag("use_global_device_ids"));
  if (a.use_global_device_ids && !a.channel_id)
    return step.misfit("expected a channel beside use_global_device_ids");
  if (a.use_global_device_ids && step.module().header.replica_count > 1)
    return fail(ErrorKind::Unsupported, "use_global_device_ids with {} replicas",
                step.module().header.replica_count);
  HILO_DO(make_global(step, a));
  const size_t n = step.count() - (how.has_dynamic_root ? 1 : 0);
  if (step.count() == 0 || n != step.result_count())
    return step.misfit("expected {} results, found {}", n, step.result_count());
  HILO_TRY(a.to_apply, step.scalars(0));
  HILO_DO(need_reducer(step, a.to_apply, 1));
  HILO_DO(promote(step, a.to_apply, 0, n));
  HILO_TRY(const InstructionId id, step.add(channel > 0 ? Op::PartitionId : Op::ReplicaId, {}));
  HILO_TRY(const InstructionId wide, step.constant(Literal::scalar(int32_t{1})));
  HILO_TRY(const InstructionId one, step.convert(wide, step.module().shape(id).type));
  HILO_TRY(const InstructionId self, step.add(Op::Add, {id, one}));
  for (size_t i = 0; i < n; ++i) {
    HILO_DO(step.need_array(i));
    HILO_TRY(const InstructionId sum, step.add(Op::AllReduce, {step.operands[i]}, a));
    const Shape shape = step.module().shape(sum);
    HILO_TRY(const InstructionId zero, step.constant(Literal::zeros(Shape::scalar(shape.type))));
    HILO_TRY(const InstructionId zeros, step.like(zero, shape));
    HILO_TRY(const InstructionId mine, is_root(step, how, self, i));
    HILO_TRY(const InstructionId choice, step.like(mine, shape));
    HILO_TRY(const InstructionId value, step.add(Op::Select, {choice, sum, zeros}));
    HILO_DO(step.give(i, value));
  }
  return {};
}

}  // namespace hilo::mlir

// What devices do together.
#include <algorithm>

#include "wire/stablehlo/op_rules.h"

namespace hilo::mlir {

Result<ReplicaGroups> replica_groups_of(const Step& step) {
  ReplicaGroups out;
  const Attribute* found = step.find("replica_groups");
  if (!found) return out;
  if (found->kind == AttributeKind::Struct && found->text == "mesh_axes") {
    const Attribute* mesh = step.program().find(*found, "mesh");
    const Attribute* axes = step.program().find(*found, "axes");
    if (!mesh || !axes) return step.misfit("replica groups without a mesh or axes");
    out.form = ReplicaGroups::Form::Mesh;
    HILO_TRY(const auto shared, step.converter.mesh_of(*mesh));
    out.mesh = *shared;
    HILO_TRY(out.axes, axis_refs_of(step.program(), *axes));
    return out;
  }
  HILO_TRY(const Dims ids, step.dims("replica_groups"));
  const Dims& dims = found->type ? step.program()[found->type].dims : Dims();
  if (dims.size() != 2 || dims[0] < 0 || dims[1] < 0 ||
      ids.size() != static_cast<size_t>(element_count(dims)))
    return step.misfit("expected replica groups of two dimensions");
  for (int64_t group = 0; group < dims[0] && dims[1] > 0; ++group) {
    Dims members(ids.begin() + group * dims[1], ids.begin() + (group + 1) * dims[1]);
    std::erase(members, -1);  // pads short groups
    out.groups.push_back(std::move(members));
  }
  return out;
}

Result<void> need_roots(const Step& step) {
  HILO_TRY(const bool has_roots, step.flag("has_dynamic_root"));
  if (!has_roots) return {};
  HILO_DO(step.need_operands(2));
  const Shape expected = Shape::array(ElementType::S32, {std::ssize(step.operands) - 1});
  const Shape& roots = step.shape(step.count() - 1);
  if (fits(roots, expected)) return {};
  return step.misfit("expected {} as roots, the last operand, found {}",
                     to_string_without_layout(expected), to_string_without_layout(roots));
}

namespace {

// Every id below their number is in one group. A broadcast leaves out who takes no part.
Result<void> need_all_ids(const Step& step, const ReplicaGroups& from) {
  if (from.form != ReplicaGroups::Form::Explicit || step.row.op == Op::CollectiveBroadcast)
    return {};
  Dims ids;
  for (const Dims& group : from.groups) ids.insert(ids.end(), group.begin(), group.end());
  std::ranges::sort(ids);
  for (int64_t i = 0; i < std::ssize(ids); ++i)
    if (ids[i] != i)
      return step.misfit("expected the ids 0 to {} in replica_groups, each once; found {} as id {}",
                         ids.size() - 1, ids[i], i);
  return {};
}

// The fields that collectives have in common; channel 0 is none.
template <class A>
Result<A> common(const Step& step) {
  A out;
  HILO_TRY(const int64_t channel, step.integer("channel_id", 0));
  if (channel > 0) out.channel_id = channel;
  if constexpr (requires { out.replica_groups; }) {
    HILO_TRY(out.replica_groups, replica_groups_of(step));
    HILO_DO(need_all_ids(step, out.replica_groups));
  }
  if constexpr (requires { out.use_global_device_ids; }) {
    HILO_TRY(out.use_global_device_ids, step.flag("use_global_device_ids"));
    if (out.use_global_device_ids && !out.channel_id)
      return step.misfit("expected a channel beside use_global_device_ids");
  }
  return out;
}

// One op for each operand.
template <class Make>
Result<void> for_each_operand(Step& step, Make&& make) {
  if (step.count() != step.result_count())
    return step.misfit("expected {} results, found {}", step.count(), step.result_count());
  for (size_t i = 0; i < step.count(); ++i) {
    HILO_DO(step.need_array(i));
    HILO_TRY(const InstructionId value, make(i));
    HILO_DO(step.annotate(value));
    HILO_DO(step.give(i, value));
  }
  return {};
}

}  // namespace

Result<void> convert_device_id(Step& step) {
  HILO_TRY(const InstructionId value, step.add(step.row.op, {}));
  return step.give(value);
}

Result<void> convert_all_gather(Step& step) {
  HILO_TRY(auto attributes, common<AllGatherAttributes>(step));
  HILO_TRY(const int64_t dim, step.integer("all_gather_dim"));
  attributes.dimensions = {dim};
  return for_each_operand(step, [&](size_t i) -> Result<InstructionId> {
    HILO_TRY(const Shape to, step.concrete(i));
    return step.add(Op::AllGather, {step.operands[i]}, attributes, &to);
  });
}

Result<void> convert_all_reduce(Step& step) {
  HILO_TRY(auto attributes, common<AllReduceAttributes>(step));
  HILO_TRY(attributes.to_apply, step.scalars(0));
  HILO_DO(need_reducer(step, attributes.to_apply, 1));
  HILO_DO(promote(step, attributes.to_apply, 0, step.count()));
  HILO_TRY(const InstructionId value,
           step.add(Op::AllReduce, step.operands, std::move(attributes)));
  return step.give(value);
}

// The old name of a sum over replicas.
Result<void> convert_cross_replica_sum(Step& step) {
  HILO_DO(step.need_array(0));
  AllReduceAttributes attributes;
  HILO_TRY(attributes.replica_groups, replica_groups_of(step));
  HILO_TRY(attributes.to_apply, sum_of(step, step.shape(0).type));
  HILO_TRY(const InstructionId value,
           step.add(Op::AllReduce, step.operands, std::move(attributes)));
  return step.give(value);
}

Result<void> convert_reduce_scatter(Step& step) {
  HILO_TRY(auto attributes, common<ReduceScatterAttributes>(step));
  HILO_TRY(const int64_t dim, step.integer("scatter_dimension"));
  attributes.dimensions = {dim};
  HILO_TRY(attributes.to_apply, step.scalars(0));
  HILO_DO(need_reducer(step, attributes.to_apply, 1));
  HILO_DO(promote(step, attributes.to_apply, 0, step.count()));
  HILO_TRY(const Shape to, step.concrete());
  HILO_TRY(const InstructionId value,
           step.add(Op::ReduceScatter, step.operands, std::move(attributes), &to));
  return step.give(value);
}

// Groups that are listed have as many members as there are parts.
static Result<void> need_groups_of(const Step& step, int64_t parts) {
  const Attribute* groups = step.find("replica_groups");
  if (!groups || groups->kind != AttributeKind::Tensor) return {};
  const Dims& dims = step.program()[groups->type].dims;
  if (dims.size() == 2 && dims[1] == parts) return {};
  return step.misfit("expected replica_groups of {} members, found {}", parts,
                     dims.empty() ? 0 : dims.back());
}

// [.., split, .., concat, ..] with split in n parts: the parts become a dimension of their own,
// change places along it, and it is moved before the concat dimension, which takes it in.
static Result<InstructionId> all_to_all(Step& step, size_t operand, AllToAllAttributes attributes) {
  HILO_TRY(const int64_t split, step.integer("split_dimension"));
  HILO_TRY(const int64_t concat, step.integer("concat_dimension"));
  HILO_TRY(const int64_t parts, step.integer("split_count"));
  const Dims from = step.shape(operand).dims;
  const auto rank = static_cast<int64_t>(from.size());
  if (split < 0 || split >= rank || concat < 0 || concat >= rank)
    return step.misfit("split_dimension {} and concat_dimension {} are not in [0, {})", split,
                       concat, rank);
  if (parts <= 0 || from[split] % parts != 0)
    return step.misfit("{} parts of a dimension of {}", parts, from[split]);
  HILO_DO(need_groups_of(step, parts));
  attributes.dimensions = Dims{split};
  if (split == concat)
    return step.add(Op::AllToAll, {step.operands[operand]}, std::move(attributes));
  Dims apart = from;
  apart[split] /= parts;
  Dims result = apart;
  if (__builtin_mul_overflow(result[concat], parts, &result[concat]))
    return step.misfit("a dimension of 2^63 elements");
  apart.insert(apart.begin() + split, parts);
  HILO_TRY(const InstructionId reshaped, step.reshape(step.operands[operand], apart));
  HILO_TRY(const InstructionId moved, step.add(Op::AllToAll, {reshaped}, std::move(attributes)));
  DimensionsAttributes order;
  for (int64_t i = 0; i < rank + 1; ++i)
    if (i != split) order.dimensions.push_back(i);
  const int64_t before = concat + (concat >= split);  // concat among the dimensions of `apart`
  order.dimensions.insert(std::ranges::find(order.dimensions, before), split);
  HILO_TRY(const InstructionId transposed, step.add(Op::Transpose, {moved}, std::move(order)));
  return step.reshape(transposed, result);
}

Result<void> convert_all_to_all(Step& step) {
  HILO_TRY(const auto attributes, common<AllToAllAttributes>(step));
  return for_each_operand(step, [&](size_t i) { return all_to_all(step, i, attributes); });
}

Result<void> convert_collective_broadcast(Step& step) {
  HILO_TRY(auto attributes, common<CollectiveBroadcastAttributes>(step));
  HILO_TRY(attributes.has_dynamic_root, step.flag("has_dynamic_root"));
  HILO_DO(need_roots(step));
  HILO_TRY(const InstructionId value,
           step.add(Op::CollectiveBroadcast, step.operands, std::move(attributes)));
  return step.give(value);
}

Result<void> convert_collective_permute(Step& step) {
  HILO_TRY(auto attributes, common<CollectivePermuteAttributes>(step));
  HILO_TRY(const Dims pairs, step.dims("source_target_pairs"));
  if (pairs.size() % 2 != 0) return step.misfit("expected pairs of devices");
  for (size_t i = 0; i < pairs.size(); i += 2)
    attributes.source_target_pairs.pairs.emplace_back(pairs[i], pairs[i + 1]);
  for (const size_t end : {0, 1}) {  // sources, targets
    Dims ids;
    for (size_t i = end; i < pairs.size(); i += 2) ids.push_back(pairs[i]);
    std::ranges::sort(ids);
    const auto twice = std::ranges::adjacent_find(ids);
    if (twice != ids.end())
      return step.misfit("{} stands twice among the {} of source_target_pairs", *twice,
                         end == 0 ? "sources" : "targets");
    if (!ids.empty() && ids[0] < 0)
      return step.misfit("a device {} in source_target_pairs", ids[0]);
  }
  HILO_TRY(const InstructionId value,
           step.add(Op::CollectivePermute, step.operands, std::move(attributes)));
  return step.give(value);
}

// An op that waits for other devices or copies, and the return.
static Result<void> need_one_transfer(const Step& step, const Block& block) {
  if (block.operations.size() != 2)
    return step.misfit("expected one op and a return, found {} ops", block.operations.size());
  const std::string& name = step.program()[block.operations[0]].name;
  const Row* row = find_row(name);
  const auto is_slice = [](Op op) {
    return op == Op::Slice || op == Op::DynamicSlice || op == Op::DynamicUpdateSlice;
  };
  if (row && (has_trait(row->op, TraitCollective) || is_slice(row->op))) return {};
  return step.misfit("expected a collective or a slice, found {}", name);
}

// The collective stands where it starts; passes make it asynchronous again where that helps.
Result<void> convert_async_start(Step& step) {
  HILO_DO(step.need_regions(1));
  HILO_TRY(const Block* block, step.converter.only_block(step.operation.regions[0]));
  HILO_DO(need_arguments(step, *block, step.operands));
  HILO_DO(need_one_transfer(step, *block));
  for (size_t i = 0; i < step.count(); ++i)
    step.scope.values[block->arguments[i]] = step.operands[i];
  HILO_DO(step.converter.enter());
  HILO_TRY(const auto results, step.converter.convert_block(step.scope, *block));
  step.converter.leave();
  HILO_TRY(const InstructionId value, step.converter.tuple(step.scope, results, step.origin));
  return step.give(value);
}

Result<void> convert_async_done(Step& step) { return step.give(step.operands[0]); }

}  // namespace hilo::mlir

// What devices do together, and custom calls.
#include <algorithm>

#include "wire/stablehlo/exporter.h"

namespace hilo::mlir {
namespace {

// [groups, size], short groups padded by -1. No group is one of all.
Result<AttributeId> groups_of(Site& site, const ReplicaGroups& groups, bool is_cross_partition) {
  std::vector<Dims> all = groups.expand();
  if (all.empty()) {
    const ModuleHeader& header = site.module().header;
    const int64_t count =
        is_cross_partition ? header.replica_count * header.num_partitions : header.replica_count;
    constexpr int64_t max_devices = int64_t{1} << 20;
    if (count < 1 || count > max_devices)
      return fail(ErrorKind::Limit, "a group of {} devices", count);
    Dims& one = all.emplace_back();
    for (int64_t i = 0; i < count; ++i) one.push_back(i);
  }
  size_t longest = 0;
  for (const Dims& group : all) longest = std::max(longest, group.size());
  Dims flat;
  for (Dims& group : all) {
    group.resize(longest, -1);
    flat.insert(flat.end(), group.begin(), group.end());
  }
  const auto count = static_cast<int64_t>(all.size()), size = static_cast<int64_t>(longest);
  return site.builder().numbers(std::move(flat), {count, size});
}

template <class A>
Result<Fields> common(Site& site) {
  const auto& a = site.attributes<A>();
  Fields out = {{"channel_id", site.integer(a.channel_id.value_or(0))}};
  bool is_global = false;
  if constexpr (requires { a.use_global_device_ids; }) {
    is_global = a.use_global_device_ids;
    out.emplace_back("use_global_device_ids", site.builder().boolean(is_global));
  }
  if constexpr (requires { a.replica_groups; }) {
    HILO_TRY(out.emplace_back("replica_groups", AttributeId()).second,
             groups_of(site, a.replica_groups, is_global));
  }
  return out;
}

// Results of starts are those of the op: the last half of a tuple, or the whole.
Result<void> become_collective(Site& site, const Shape& result, Fields fields,
                               std::vector<RegionId> regions = {}) {
  HILO_TRY(auto types, site.exporter.leaf_types(result));
  annotate(site.builder(), site.module().extra(site.instruction()), fields);
  HILO_TRY(Leaves values, site.emit(site.name, site.all_leaves(), std::move(types),
                                    std::move(fields), std::move(regions)));
  site.give(std::move(values));
  return {};
}

const Shape& second_of(const Site& site) {
  const Shape& shape = site.shape();
  const bool is_start = site.instruction().op == Op::AllGatherStart ||
                        site.instruction().op == Op::CollectivePermuteStart;
  return is_start && shape.elements.size() > 1 ? shape.elements[1] : shape;
}

// Before 1.5.0 such ops had one operand.
Result<void> need_operands(const Site& site) {
  const VhloOp* op = find_stablehlo_op(site.name);
  if (site.count() == 1 || !op || version_at(*op, site.exporter.release) >= 2) return {};
  return fail(ErrorKind::Unsupported, "{} of {} operands came with StableHLO {}; {} is written",
              site.name, site.count(), to_string(release_of(*op, 2)),
              to_string(site.exporter.release));
}

}  // namespace

Result<void> write_all_gather(Site& site) {
  const auto& a = site.attributes<AllGatherAttributes>();
  if (a.dimensions.size() != 1) return fail(ErrorKind::Structure, "expected one dimension");
  HILO_DO(need_operands(site));
  HILO_TRY(Fields fields, common<AllGatherAttributes>(site));
  fields.emplace_back("all_gather_dim", site.integer(a.dimensions[0]));
  return become_collective(site, second_of(site), std::move(fields));
}

Result<void> write_all_reduce(Site& site) {
  HILO_DO(need_operands(site));
  HILO_TRY(Fields fields, common<AllReduceAttributes>(site));
  HILO_TRY(const RegionId body,
           site.exporter.region(site.attributes<AllReduceAttributes>().to_apply));
  return become_collective(site, site.shape(), std::move(fields), {body});
}

Result<void> write_reduce_scatter(Site& site) {
  const auto& a = site.attributes<ReduceScatterAttributes>();
  if (a.dimensions.size() != 1) return fail(ErrorKind::Structure, "expected one dimension");
  if (site.count() != 1)
    return site.unsupported("StableHLO has no reduce_scatter of several operands");
  HILO_TRY(Fields fields, common<ReduceScatterAttributes>(site));
  fields.emplace_back("scatter_dimension", site.integer(a.dimensions[0]));
  HILO_TRY(const RegionId body, site.exporter.region(a.to_apply));
  return become_collective(site, site.shape(), std::move(fields), {body});
}

// Without a dimension, operands are what goes to each device of the group.
Result<void> write_all_to_all(Site& site) {
  const auto& a = site.attributes<AllToAllAttributes>();
  if (!a.dimensions || a.dimensions->size() != 1)
    return site.unsupported("StableHLO has no all-to-all of a tuple's elements");
  HILO_TRY(Fields fields, common<AllToAllAttributes>(site));
  const AttributeId groups =
      find_field([&] { return sort_fields(fields), fields; }(), "replica_groups");
  const int64_t size = site.builder().program[site.builder().program[groups].type].dims[1];
  fields.emplace_back("split_dimension", site.integer((*a.dimensions)[0]));
  fields.emplace_back("concat_dimension", site.integer((*a.dimensions)[0]));
  fields.emplace_back("split_count", site.integer(size));
  return become_collective(site, site.shape(), std::move(fields));
}

Result<void> write_collective_broadcast(Site& site) {
  const auto& a = site.attributes<CollectiveBroadcastAttributes>();
  HILO_DO(need_operands(site));
  HILO_TRY(Fields fields, common<CollectiveBroadcastAttributes>(site));
  if (a.has_dynamic_root) fields.emplace_back("has_dynamic_root", site.builder().boolean(true));
  return become_collective(site, site.shape(), std::move(fields));
}

Result<void> write_collective_permute(Site& site) {
  const auto& a = site.attributes<CollectivePermuteAttributes>();
  if (site.count() != 1)
    return site.unsupported("StableHLO has no collective_permute of slices or several operands");
  Dims flat;
  for (const auto& [source, target] : a.source_target_pairs.pairs) {
    flat.push_back(source);
    flat.push_back(target);
  }
  const auto pairs = static_cast<int64_t>(flat.size() / 2);
  HILO_TRY(Fields fields, common<CollectivePermuteAttributes>(site));
  fields.emplace_back("source_target_pairs", site.builder().numbers(std::move(flat), {pairs, 2}));
  return become_collective(site, second_of(site), std::move(fields));
}

namespace {

AttributeId layout_of(Site& site, const Shape& shape) {
  Dims order = shape.is_array() && shape.has_layout ? shape.layout.minor_to_major : Dims();
  const auto rank = static_cast<int64_t>(order.size());
  Attribute out{.kind = AttributeKind::Tensor};
  out.type = site.builder().tensor(site.builder().intern({.kind = TypeKind::Index}), {rank});
  out.data = std::make_shared<const std::string>(reinterpret_cast<const char*>(order.data()),
                                                 order.size() * sizeof(int64_t));
  return site.builder().add(std::move(out));
}

AttributeId integer_list(Site& site, const Dims& values) {
  std::vector<AttributeId> out;
  for (const int64_t value : values) out.push_back(site.integer(value));
  return site.builder().array(std::move(out));
}

void add_layouts(Site& site, Fields& fields) {
  const auto& a = site.attributes<CustomCallAttributes>();
  if (!a.operand_layout_constraints) return;
  std::vector<AttributeId> operands, results;
  for (const Shape& shape : *a.operand_layout_constraints)
    operands.push_back(layout_of(site, shape));
  if (site.shape().is_tuple())
    for (const Shape& shape : site.shape().elements) results.push_back(layout_of(site, shape));
  else results.push_back(layout_of(site, site.shape()));
  fields.emplace_back("operand_layouts", site.builder().array(std::move(operands)));
  fields.emplace_back("result_layouts", site.builder().array(std::move(results)));
}

// A typed call's dictionary stands beside the op, as JAX writes it: XLA knows the call by that.
Result<void> add_config(Site& site, Fields& fields) {
  const Extra& extra = site.module().extra(site.instruction());
  const auto version = site.attributes<CustomCallAttributes>().api_version;
  if (version != CustomCallApiVersion::TypedFfi) {
    fields.emplace_back("backend_config", site.builder().string(extra.backend_config));
    fields.emplace_back("api_version", site.builder().enumerator(text_of_enum(version)));
    return {};
  }
  const std::string_view text = extra.backend_config.empty() ? "{}" : extra.backend_config;
  const auto dictionary = parse_dictionary(site.builder(), text);
  if (!dictionary)
    return site.unsupported("the configuration of a typed call is no dictionary of MLIR");
  fields.emplace_back("mhlo.backend_config", *dictionary);
  return {};
}

bool has_inner_tuple(const Shape& shape) {
  return shape.is_tuple() &&
         (shape.elements.size() == 1 || std::ranges::any_of(shape.elements, &Shape::is_tuple));
}

// The values that a tuple's type stands for, as one.
Result<ValueId> as_tuple(Site& site, std::span<const ValueId> leaves, const Shape& shape) {
  if (!shape.is_tuple()) return leaves[0];
  std::vector<ValueId> elements;
  for (const Shape& element : shape.elements) {
    const auto count = static_cast<size_t>(leaf_count(element));
    HILO_TRY(elements.emplace_back(), as_tuple(site, leaves.first(count), element));
    leaves = leaves.subspan(count);
  }
  HILO_TRY(const TypeId type, site.exporter.type_of(shape));
  HILO_TRY(const Leaves out, site.emit("stablehlo.tuple", elements, {type}));
  return out[0];
}

Result<void> append_elements(Site& site, ValueId value, const Shape& shape, Leaves& out) {
  if (!shape.is_tuple()) return out.push_back(value), Result<void>();
  for (size_t i = 0; i < shape.elements.size(); ++i) {
    HILO_TRY(const TypeId type, site.exporter.type_of(shape.elements[i]));
    HILO_TRY(const Leaves element,
             site.emit("stablehlo.get_tuple_element", std::array{value}, {type},
                       {{"index", site.integer32(static_cast<int64_t>(i))}}));
    HILO_DO(append_elements(site, element[0], shape.elements[i], out));
  }
  return {};
}

Result<Fields> custom_call_fields(Site& site) {
  const auto& a = site.attributes<CustomCallAttributes>();
  Builder& builder = site.builder();
  Fields out = {{"call_target_name", builder.string(a.custom_call_target)},
                {"has_side_effect", builder.boolean(a.custom_call_has_side_effect)}};
  std::vector<AttributeId> called, aliases;
  for (const ComputationId computation : a.called_computations)
    called.push_back(builder.string(site.exporter.function(computation)));
  for (const OutputOperandAlias& alias : a.output_to_operand_aliasing)
    aliases.push_back(
        builder.structure("alias", {{"output_index", integer_list(site, alias.output_index)},
                                    {"operand", site.integer(alias.operand)},
                                    {"operand_index", integer_list(site, alias.operand_index)}}));
  out.emplace_back("called_computations", builder.array(std::move(called)));
  out.emplace_back("output_operand_aliases", builder.array(std::move(aliases)));
  add_layouts(site, out);
  HILO_DO(add_config(site, out));
  annotate(builder, site.module().extra(site.instruction()), out);
  if (a.literal.literal) return site.unsupported("a custom call that holds a literal");
  if (!a.window.dims.empty() || a.dim_labels)
    return site.unsupported("a custom call with the window or labels of a convolution");
  return out;
}

}  // namespace

// Tuples stay tuples here, as they are part of the call's interface; but results in one tuple are
// several, as XLA reads them.
Result<void> write_custom_call(Site& site) {
  HILO_TRY(Fields fields, custom_call_fields(site));
  std::vector<ValueId> operands;
  for (size_t i = 0; i < site.count(); ++i) {
    HILO_TRY(operands.emplace_back(), as_tuple(site, site.leaves(i), site.operand_shape(i)));
  }
  if (!has_inner_tuple(site.shape())) {
    HILO_TRY(auto types, site.exporter.leaf_types(site.shape()));
    HILO_TRY(Leaves values, site.emit(site.name, operands, std::move(types), std::move(fields)));
    site.give(std::move(values));
    return {};
  }
  HILO_TRY(const TypeId type, site.exporter.type_of(site.shape()));
  HILO_TRY(const Leaves whole, site.emit(site.name, operands, {type}, std::move(fields)));
  Leaves out;
  HILO_DO(append_elements(site, whole[0], site.shape(), out));
  site.give(std::move(out));
  return {};
}

}  // namespace hilo::mlir

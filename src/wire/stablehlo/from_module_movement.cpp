// Elementwise ops, constants, and ops that move elements.
#include <algorithm>
#include <cstring>

#include "wire/stablehlo/exporter.h"

namespace hilo::mlir {

// A function of CHLO is the custom call that XLA knows it by.
static Result<void> become_call_of(Site& site, std::string_view function, Fields options) {
  Fields fields = {{"call_target_name", site.builder().string(fmt::format("mhlo.{}", function))},
                   {"mhlo.attributes", site.builder().dictionary(std::move(options))},
                   {"mhlo.version", site.integer(1)}};
  return site.become("stablehlo.custom_call", site.all_leaves(), std::move(fields));
}

Result<void> write_elementwise(Site& site) {
  constexpr std::string_view chlo = "chlo.";
  if (site.name.starts_with(chlo)) return become_call_of(site, site.name.substr(chlo.size()), {});
  const VhloOp* op = find_stablehlo_op(site.name);
  if (op && version_at(*op, site.exporter.release) == 0 && site.instruction().op == Op::Tan)
    return become_call_of(site, "tan", {});
  return site.become();
}

Result<void> write_plain(Site& site) { return site.become(); }

Result<void> write_same(Site& site) {
  Leaves values = site.leaves(0);
  site.give(std::move(values));
  return {};
}

Result<void> write_compare(Site& site) {
  const auto& a = site.attributes<CompareAttributes>();
  const ElementType type = site.operand_shape(0).type;
  std::string_view order = is_floating(type) || is_complex(type) ? "FLOAT"
                           : is_signed(type)                     ? "SIGNED"
                                                                 : "UNSIGNED";
  const bool is_total = a.type == ComparisonType::TotalOrder || a.order == ComparisonOrder::Total;
  if (is_floating(type) && is_total) order = "TOTALORDER";
  return site.become(
      {{"comparison_direction", site.builder().enumerator(text_of_enum(a.direction))},
       {"compare_type", site.builder().enumerator(order)}});
}

Result<void> write_reduce_precision(Site& site) {
  const auto& a = site.attributes<ReducePrecisionAttributes>();
  return site.become({{"exponent_bits", site.integer32(a.exponent_bits)},
                      {"mantissa_bits", site.integer32(a.mantissa_bits)}});
}

Result<ValueId> Site::transposed(ValueId value, const Dims& permutation) {
  if (std::ranges::is_sorted(permutation)) return value;
  Type type = builder().program[builder().program[value].type];
  const Dims from = type.dims;
  for (size_t i = 0; i < permutation.size(); ++i) type.dims[i] = from[permutation[i]];
  HILO_TRY(const Leaves out,
           emit("stablehlo.transpose", std::array{value}, {builder().intern(std::move(type))},
                {{"permutation", numbers(permutation)}}));
  return out[0];
}

Result<ValueId> Site::reshaped(ValueId value, Dims dims) {
  Type type = builder().program[builder().program[value].type];
  if (type.dims == dims) return value;
  type.dims = std::move(dims);
  HILO_TRY(const Leaves out,
           emit("stablehlo.reshape", std::array{value}, {builder().intern(std::move(type))}));
  return out[0];
}

Result<ValueId> Site::converted(ValueId value, ElementType to) {
  Type type = builder().program[builder().program[value].type];
  const TypeId element = builder().scalar(to);
  if (type.element_type == element) return value;
  type.element_type = element;
  HILO_TRY(const Leaves out,
           emit("stablehlo.convert", std::array{value}, {builder().intern(std::move(type))}));
  return out[0];
}

Result<void> write_broadcast(Site& site) {
  return site.become(
      {{"broadcast_dimensions", site.numbers(site.attributes<DimensionsAttributes>().dimensions)}});
}

namespace {

Result<ValueId> constant_leaf(Site& site, const Literal& literal) {
  HILO_TRY(const TypeId type, site.exporter.type_of(literal.shape()));
  if (literal.shape().is_token()) {
    HILO_TRY(const Leaves token, site.emit("stablehlo.create_token", {}, {type}));
    return token[0];
  }
  const auto raw = literal.raw();
  const auto width = static_cast<size_t>(storage_bytes(literal.type()));
  Attribute value{.kind = AttributeKind::Tensor};
  value.type = type;
  value.is_splat = raw.size() > width;
  for (size_t i = width; value.is_splat && i < raw.size(); i += width)
    value.is_splat = std::memcmp(raw.data(), raw.data() + i, width) == 0;
  value.data = std::make_shared<const std::string>(reinterpret_cast<const char*>(raw.data()),
                                                   value.is_splat ? width : raw.size());
  HILO_TRY(const Leaves out, site.emit("stablehlo.constant", {}, {type},
                                       {{"value", site.builder().add(std::move(value))}}));
  return out[0];
}

Result<void> constant_leaves(Site& site, const Literal& literal, Leaves& out) {
  if (!literal.shape().is_tuple()) {
    HILO_TRY(out.emplace_back(), constant_leaf(site, literal));
    return {};
  }
  for (const Literal& element : literal.elements()) HILO_DO(constant_leaves(site, element, out));
  return {};
}

}  // namespace

Result<void> write_constant(Site& site) {
  const LiteralRef& ref = site.attributes<ConstantAttributes>().literal;
  if (!ref.literal) return fail(ErrorKind::Structure, "a constant without a value");
  Leaves out;
  HILO_DO(constant_leaves(site, *ref.literal, out));
  site.give(std::move(out));
  return {};
}

Result<ValueId> Site::integers(const Dims& values, ElementType element) {
  const TypeId type = exporter.array_type(element, {static_cast<int64_t>(values.size())});
  std::string data;
  for (const int64_t value : values)
    data.append(reinterpret_cast<const char*>(&value), static_cast<size_t>(storage_bytes(element)));
  Attribute value{.kind = AttributeKind::Tensor};
  value.type = type;
  value.data = std::make_shared<const std::string>(std::move(data));
  HILO_TRY(const Leaves out,
           emit("stablehlo.constant", {}, {type}, {{"value", builder().add(std::move(value))}}));
  return out[0];
}

Result<void> write_concatenate(Site& site) {
  const Dims& dims = site.attributes<DimensionsAttributes>().dimensions;
  if (dims.size() != 1) return fail(ErrorKind::Structure, "expected one dimension");
  return site.become({{"dimension", site.integer(dims[0])}});
}

Result<void> write_one_dimension(Site& site) { return write_concatenate(site); }

Result<void> write_dimensions(Site& site) {
  return site.become(
      {{"dimensions", site.numbers(site.attributes<DimensionsAttributes>().dimensions)}});
}

Result<void> write_transpose(Site& site) {
  return site.become(
      {{"permutation", site.numbers(site.attributes<DimensionsAttributes>().dimensions)}});
}

// The sizes, scalars in HLO, are one vector.
Result<void> write_dynamic_reshape(Site& site) {
  std::vector<ValueId> sizes;
  for (const ValueId size : site.all_leaves(1)) {
    HILO_TRY(sizes.emplace_back(), site.reshaped(size, {1}));
  }
  if (sizes.empty()) return site.become("stablehlo.reshape", site.leaves(0));
  const auto count = static_cast<int64_t>(sizes.size());
  HILO_TRY(const Leaves shape,
           site.emit("stablehlo.concatenate", sizes,
                     {site.exporter.array_type(site.operand_shape(1).type, {count})},
                     {{"dimension", site.integer(0)}}));
  return site.become(site.name, std::array{site.leaves(0)[0], shape[0]});
}

Result<void> write_dynamic_slice(Site& site) {
  const auto& a = site.attributes<DynamicSliceAttributes>();
  return site.become({{"slice_sizes", site.numbers(a.dynamic_slice_sizes)}});
}

namespace {

// Where gather and scatter have no batching dimensions: `window_dims` are those of the operand that
// slices do not have, `index_map` those that index vectors count in.
Result<Leaves> without_batching(Site& site, size_t indices, Dims& operand_dims, Dims& indices_dims,
                                int64_t index_vector_dim, Dims& window_dims, Dims& index_map) {
  Leaves operands = site.all_leaves();
  if (operand_dims.empty() || has_batching_dims(site)) return operands;
  HILO_TRY(operands[indices], add_batch_indices(site, indices, indices_dims, index_vector_dim));
  index_map.insert(index_map.begin(), operand_dims.begin(), operand_dims.end());
  window_dims.insert(window_dims.end(), operand_dims.begin(), operand_dims.end());
  std::ranges::sort(window_dims);
  operand_dims.clear(), indices_dims.clear();
  return operands;
}

}  // namespace

Result<void> write_gather(Site& site) {
  GatherAttributes a = site.attributes<GatherAttributes>();
  HILO_TRY(const Leaves operands,
           without_batching(site, 1, a.operand_batching_dims, a.start_indices_batching_dims,
                            a.index_vector_dim, a.collapsed_slice_dims, a.start_index_map));
  return site.become(site.name, operands,
                     {{"offset_dims", site.numbers(a.offset_dims)},
                      {"collapsed_slice_dims", site.numbers(a.collapsed_slice_dims)},
                      {"start_index_map", site.numbers(a.start_index_map)},
                      {"operand_batching_dims", site.numbers(a.operand_batching_dims)},
                      {"start_indices_batching_dims", site.numbers(a.start_indices_batching_dims)},
                      {"index_vector_dim", site.integer(a.index_vector_dim)},
                      {"slice_sizes", site.numbers(a.slice_sizes)},
                      {"indices_are_sorted", site.builder().boolean(a.indices_are_sorted)}});
}

Result<void> write_scatter(Site& site) {
  ScatterAttributes a = site.attributes<ScatterAttributes>();
  HILO_TRY(const RegionId body, site.exporter.region(a.to_apply));
  HILO_TRY(const Leaves operands,
           without_batching(site, site.count() / 2, a.input_batching_dims,
                            a.scatter_indices_batching_dims, a.index_vector_dim,
                            a.inserted_window_dims, a.scatter_dims_to_operand_dims));
  return site.become(
      site.name, operands,
      {{"update_window_dims", site.numbers(a.update_window_dims)},
       {"inserted_window_dims", site.numbers(a.inserted_window_dims)},
       {"scatter_dims_to_operand_dims", site.numbers(a.scatter_dims_to_operand_dims)},
       {"input_batching_dims", site.numbers(a.input_batching_dims)},
       {"scatter_indices_batching_dims", site.numbers(a.scatter_indices_batching_dims)},
       {"index_vector_dim", site.integer(a.index_vector_dim)},
       {"indices_are_sorted", site.builder().boolean(a.indices_are_sorted)},
       {"unique_indices", site.builder().boolean(a.unique_indices)}},
      {body});
}

Result<void> write_iota(Site& site) {
  return site.become(
      {{"iota_dimension", site.integer(site.attributes<IotaAttributes>().iota_dimension)}});
}

Result<void> write_pad(Site& site) {
  Dims low, high, interior;
  for (const PaddingDim& dim : site.attributes<PadAttributes>().padding.dims) {
    low.push_back(dim.low);
    high.push_back(dim.high);
    interior.push_back(dim.interior);
  }
  return site.become({{"edge_padding_low", site.numbers(low)},
                      {"edge_padding_high", site.numbers(high)},
                      {"interior_padding", site.numbers(interior)}});
}

Result<void> write_slice(Site& site) {
  Dims starts, limits, strides;
  for (const SliceDim& dim : site.attributes<SliceAttributes>().slice.dims) {
    starts.push_back(dim.start);
    limits.push_back(dim.limit);
    strides.push_back(dim.stride);
  }
  return site.become({{"start_indices", site.numbers(starts)},
                      {"limit_indices", site.numbers(limits)},
                      {"strides", site.numbers(strides)}});
}

Result<void> write_top_k(Site& site) {
  const auto& a = site.attributes<TopKAttributes>();
  return become_call_of(site, "topk",
                        {{"k", site.integer(a.k)}, {"largest", site.builder().boolean(a.largest)}});
}

}  // namespace hilo::mlir

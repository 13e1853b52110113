// Constants, and ops that move elements.
#include <algorithm>

#include "wire/stablehlo/op_rules.h"

namespace hilo::mlir {

// A constant that its printer left out has the values that HLO's text has for such.
static Result<void> give_elided(Step& step, const Shape& shape) {
  const ParseOptions& options = step.converter.options;
  HILO_TRY(const Module one,
           parse(fmt::format("HloModule m\nENTRY e {{\n  ROOT c = {} constant({{...}})\n}}\n",
                             to_string_without_layout(shape)),
                 {.max_literal_bytes = options.max_literal_bytes}));
  step.warn("the value is elided; made-up values stand in its place");
  HILO_TRY(
      const InstructionId value,
      step.add(Op::Constant, {}, one.attributes<ConstantAttributes>(one[one.entry].root), &shape));
  return step.give(value);
}

// Values of a quantised type stand as they are stored; i8 is of both signs.
static Result<void> need_stored(const Step& step, const Attribute& value,
                                const Quantization& type) {
  if (value.kind != AttributeKind::Tensor || !value.type) return {};
  const Type& tensor = step.program()[value.type];
  if (tensor.kind != TypeKind::Tensor || !tensor.element_type) return {};
  const ElementType element = step.program()[tensor.element_type].element;
  const bool is_signless = is_signed(element) && bits_of(element) == bits_of(type.storage);
  if (element == type.storage || is_signless ||
      step.program()[tensor.element_type].kind == TypeKind::Quantized)
    return {};
  return step.misfit("values of {} for a quantised type stored as {}", text_of(element),
                     text_of(type.storage));
}

// An array of one value is that value, broadcast.
Result<void> convert_constant(Step& step) {
  const Attribute* value = step.find("value");
  if (!value) return step.misfit("the attribute value is missing");
  HILO_TRY(const Shape shape, step.concrete());
  if (value->kind == AttributeKind::Resource && value->text == "__elided__" && shape.is_array() &&
      !shape.dims.empty())
    return give_elided(step, shape);
  const bool is_broadcast = value->is_splat && value->kind == AttributeKind::Tensor &&
                            shape.is_array() && element_count(shape) > 1;
  const Shape held = is_broadcast ? Shape::scalar(shape.type) : shape;
  if (const Quantization* quantised =
          quantization_of(step.program(), step.program()[step.operation.results[0]].type))
    HILO_DO(need_stored(step, *value, *quantised));
  HILO_TRY(Literal literal, literal_of(step.program(), *value, held));
  HILO_TRY(InstructionId constant, step.constant(std::move(literal)));
  if (is_broadcast) {
    HILO_TRY(constant, step.broadcast(constant, {}, shape.dims));
  }
  return step.give(constant);
}

Result<InstructionId> broadcast_in(Step& step, InstructionId value, const Dims& dims,
                                   const Dims& to) {
  const Dims from = step.module().shape(value).dims;
  if (from.size() != dims.size())
    return step.misfit("expected {} broadcast_dimensions, found {}", from.size(), dims.size());
  Dims kept, sizes;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0 || dims[i] >= static_cast<int64_t>(to.size()))
      return step.misfit("broadcast dimension {} is not in [0, {})", dims[i], to.size());
    if (from[i] == 1 && to[dims[i]] != 1) continue;
    kept.push_back(dims[i]);
    sizes.push_back(from[i]);
  }
  HILO_TRY(const InstructionId operand, step.reshape(value, sizes));
  if (to == sizes && std::ranges::is_sorted(kept) && kept.size() == to.size()) return operand;
  return step.broadcast(operand, kept, to);
}

Result<void> broadcast_to(Step& step, const Dims& to) {
  HILO_DO(step.need_array(0));
  HILO_TRY(const Dims dims, step.dims("broadcast_dimensions"));
  HILO_TRY(const InstructionId value, broadcast_in(step, step.operands[0], dims, to));
  return step.give(value);
}

Result<void> convert_broadcast_in_dim(Step& step) {
  HILO_TRY(const Shape to, step.concrete());
  return broadcast_to(step, to.dims);
}

Result<void> convert_broadcast(Step& step) {
  HILO_DO(step.need_array(0));
  HILO_TRY(Dims to, step.dims("broadcast_sizes"));
  Dims dims;
  for (int64_t size : step.shape(0).dims) {
    dims.push_back(static_cast<int64_t>(to.size()));
    to.push_back(size);
  }
  HILO_TRY(const InstructionId value, step.broadcast(step.operands[0], dims, to));
  return step.give(value);
}

Result<void> convert_reshape(Step& step) {
  HILO_TRY(const Shape to, step.concrete());
  if (std::ranges::count(to.dynamic, true) > 1)
    return step.misfit("the result {} has more than one bounded dimension",
                       to_string_without_layout(to));
  HILO_TRY(const InstructionId value, step.add(Op::Reshape, step.operands, &to));
  return step.give(value);
}

// Ops whose one attribute is a list of dimensions.
static Result<void> convert_with_dims(Step& step, std::string_view attribute) {
  DimensionsAttributes attributes;
  HILO_TRY(attributes.dimensions, step.dims(attribute));
  HILO_TRY(const InstructionId value, step.add(step.row.op, step.operands, attributes));
  return step.give(value);
}
Result<void> convert_transpose(Step& step) { return convert_with_dims(step, "permutation"); }
Result<void> convert_reverse(Step& step) { return convert_with_dims(step, "dimensions"); }
Result<void> convert_concatenate(Step& step) { return convert_with_dims(step, "dimension"); }

Result<void> convert_iota(Step& step) {
  IotaAttributes attributes;
  HILO_TRY(attributes.iota_dimension, step.integer("iota_dimension"));
  HILO_TRY(const Shape to, step.concrete());
  HILO_TRY(const InstructionId value, step.add(Op::Iota, {}, attributes, &to));
  return step.give(value);
}

Result<SliceAttributes> slice_attributes(const Step& step, const Dims& starts, const Dims& limits,
                                         const Dims& strides) {
  SliceAttributes out;
  if (starts.size() != limits.size() || strides.size() != starts.size())
    return step.misfit("{} starts, {} limits and {} strides", starts.size(), limits.size(),
                       strides.size());
  for (size_t i = 0; i < starts.size(); ++i)
    out.slice.dims.push_back({starts[i], limits[i], strides[i]});
  return out;
}

Result<void> convert_slice(Step& step) {
  HILO_TRY(const Dims starts, step.dims("start_indices"));
  HILO_TRY(const Dims limits, step.dims("limit_indices"));
  HILO_TRY(const Dims strides, step.dims("strides", Dims(starts.size(), 1)));
  HILO_TRY(SliceAttributes attributes, slice_attributes(step, starts, limits, strides));
  HILO_TRY(const InstructionId value, step.add(Op::Slice, step.operands, std::move(attributes)));
  return step.give(value);
}

Result<void> convert_dynamic_slice(Step& step) {
  DynamicSliceAttributes attributes;
  HILO_TRY(attributes.dynamic_slice_sizes, step.dims("slice_sizes"));
  HILO_TRY(const InstructionId value, step.add(Op::DynamicSlice, step.operands, attributes));
  return step.give(value);
}

Result<void> convert_dynamic_update_slice(Step& step) {
  HILO_TRY(const InstructionId value, step.add(Op::DynamicUpdateSlice, step.operands));
  return step.give(value);
}

Result<PadAttributes> pad_attributes(const Step& step, const Dims& low, const Dims& high,
                                     const Dims& interior) {
  PadAttributes out;
  if (low.size() != high.size() || interior.size() != low.size())
    return step.misfit("paddings of {}, {} and {} dimensions", low.size(), high.size(),
                       interior.size());
  for (size_t i = 0; i < low.size(); ++i)
    out.padding.dims.push_back({low[i], high[i], interior[i]});
  return out;
}

Result<void> convert_pad(Step& step) {
  HILO_TRY(const Dims low, step.dims("edge_padding_low"));
  HILO_TRY(const Dims high, step.dims("edge_padding_high"));
  HILO_TRY(const Dims interior, step.dims("interior_padding", Dims(low.size(), 0)));
  HILO_TRY(PadAttributes attributes, pad_attributes(step, low, high, interior));
  HILO_TRY(const InstructionId value, step.add(Op::Pad, step.operands, std::move(attributes)));
  return step.give(value);
}

Result<void> gather_with(Step& step, Dims slice_sizes) {
  GatherAttributes a;
  HILO_TRY(a.offset_dims, step.dims("offset_dims", {}));
  HILO_TRY(a.collapsed_slice_dims, step.dims("collapsed_slice_dims", {}));
  HILO_TRY(a.start_index_map, step.dims("start_index_map", {}));
  HILO_TRY(a.operand_batching_dims, step.dims("operand_batching_dims", {}));
  HILO_TRY(a.start_indices_batching_dims, step.dims("start_indices_batching_dims", {}));
  HILO_TRY(a.index_vector_dim, step.integer("index_vector_dim", 0));
  HILO_TRY(a.indices_are_sorted, step.flag("indices_are_sorted"));
  a.slice_sizes = std::move(slice_sizes);
  HILO_TRY(const InstructionId value,
           step.add(Op::Gather, {step.operands[0], step.operands[1]}, std::move(a)));
  return step.give(value);
}

Result<void> convert_gather(Step& step) {
  HILO_TRY(Dims sizes, step.dims("slice_sizes"));
  return gather_with(step, std::move(sizes));
}

Result<void> convert_scatter(Step& step) {
  ScatterAttributes a;
  HILO_TRY(a.update_window_dims, step.dims("update_window_dims", {}));
  HILO_TRY(a.inserted_window_dims, step.dims("inserted_window_dims", {}));
  HILO_TRY(a.scatter_dims_to_operand_dims, step.dims("scatter_dims_to_operand_dims", {}));
  HILO_TRY(a.input_batching_dims, step.dims("input_batching_dims", {}));
  HILO_TRY(a.scatter_indices_batching_dims, step.dims("scatter_indices_batching_dims", {}));
  HILO_TRY(a.index_vector_dim, step.integer("index_vector_dim", 0));
  HILO_TRY(a.indices_are_sorted, step.flag("indices_are_sorted"));
  HILO_TRY(a.unique_indices, step.flag("unique_indices"));
  HILO_TRY(a.to_apply, step.scalars(0));
  const size_t inputs = step.count() / 2;  // the indices between them and the updates
  HILO_DO(need_reducer(step, a.to_apply, inputs));
  HILO_DO(promote(step, a.to_apply, 0, inputs));
  HILO_DO(promote(step, a.to_apply, inputs + 1, step.count()));
  HILO_TRY(const InstructionId value, step.add(Op::Scatter, step.operands, std::move(a)));
  return step.give(value);
}

// index[batch..., i...] picks along `dim`: a gather of scalar indices.
Result<void> convert_torch_index_select(Step& step) {
  HILO_DO(step.need_array(0));
  HILO_DO(step.need_array(1));
  HILO_TRY(const int64_t dim, step.integer("dim"));
  HILO_TRY(const int64_t batch, step.integer("batch_dims", 0));
  const Shape operand = step.shape(0), index = step.shape(1);
  if (dim < 0 || dim >= operand.rank() || batch < 0 || batch > dim || batch > index.rank())
    return step.misfit("dim {} and batch_dims {} do not fit", dim, batch);
  GatherAttributes a;
  a.slice_sizes = operand.dims;
  a.slice_sizes[dim] = 1;
  a.collapsed_slice_dims = a.start_index_map = {dim};
  a.index_vector_dim = index.rank();
  for (int64_t i = 0; i < batch; ++i) {
    a.operand_batching_dims.push_back(i);
    a.start_indices_batching_dims.push_back(i);
    a.slice_sizes[i] = 1;
  }
  for (int64_t i = batch; i < dim; ++i) a.offset_dims.push_back(i);
  for (int64_t i = dim + 1; i < operand.rank(); ++i)
    a.offset_dims.push_back(i - 1 + index.rank() - batch);
  HILO_TRY(const InstructionId value, step.add(Op::Gather, step.operands, std::move(a)));
  return step.give(value);
}

}  // namespace hilo::mlir

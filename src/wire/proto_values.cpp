// Attribute values that are messages of their own.
#include "wire/proto_values.h"

#include <algorithm>

#include "text/text.h"
#include "wire/proto_raw_text.h"
#include "wire/text_scanner.h"

namespace hilo {

void put(const ProtoPlace& place, const Window& value) {
  // A custom call without a window says so by leaving the field out.
  if (value.dims.empty() && place.instruction.opcode() == text_of(Op::CustomCall)) return;
  proto::Window& to = *place.instruction.mutable_window();
  for (const WindowDim& dim : value.dims) {
    proto::WindowDimension& added = *to.add_dimensions();
    added.set_size(dim.size);
    added.set_stride(dim.stride);
    added.set_padding_low(dim.padding_low);
    added.set_padding_high(dim.padding_high);
    added.set_window_dilation(dim.window_dilation);
    added.set_base_dilation(dim.base_dilation);
    added.set_window_reversal(dim.reversal);
  }
}

Result<void> get(const ProtoSource& source, Window& value) {
  for (const proto::WindowDimension& dim : source.instruction.window().dimensions())
    value.dims.push_back({dim.size(), dim.stride(), dim.padding_low(), dim.padding_high(),
                          dim.window_dilation(), dim.base_dilation(), dim.window_reversal()});
  return {};
}

void put(const ProtoPlace& place, const ConvolutionLabels& value) {
  proto::ConvolutionDimensionNumbers& to =
      *place.instruction.mutable_convolution_dimension_numbers();
  to.set_input_batch_dimension(value.input_batch);
  to.set_input_feature_dimension(value.input_feature);
  put_dims(value.input_spatial, *to.mutable_input_spatial_dimensions());
  to.set_kernel_input_feature_dimension(value.kernel_input_feature);
  to.set_kernel_output_feature_dimension(value.kernel_output_feature);
  put_dims(value.kernel_spatial, *to.mutable_kernel_spatial_dimensions());
  to.set_output_batch_dimension(value.output_batch);
  to.set_output_feature_dimension(value.output_feature);
  put_dims(value.output_spatial, *to.mutable_output_spatial_dimensions());
  put_dims(value.input_unknown, *to.mutable_input_unknown());
  put_dims(value.kernel_unknown, *to.mutable_kernel_unknown());
}
void put(const ProtoPlace& place, const std::optional<ConvolutionLabels>& value) {
  if (value) put(place, *value);
}

namespace {

// Each dimension of one side has one label.
bool labels_all(std::initializer_list<const Dims*> lists, int64_t a, int64_t b) {
  Dims labelled = {a, b};
  for (const Dims* list : lists) labelled.insert(labelled.end(), list->begin(), list->end());
  std::sort(labelled.begin(), labelled.end());
  for (size_t i = 0; i < labelled.size(); ++i)
    if (labelled[i] != static_cast<int64_t>(i)) return false;
  return true;
}

}  // namespace

Result<void> get(const ProtoSource& source, ConvolutionLabels& value) {
  const auto& from = source.instruction.convolution_dimension_numbers();
  value.input_batch = from.input_batch_dimension();
  value.input_feature = from.input_feature_dimension();
  value.input_spatial = dims_of(from.input_spatial_dimensions());
  value.kernel_input_feature = from.kernel_input_feature_dimension();
  value.kernel_output_feature = from.kernel_output_feature_dimension();
  value.kernel_spatial = dims_of(from.kernel_spatial_dimensions());
  value.output_batch = from.output_batch_dimension();
  value.output_feature = from.output_feature_dimension();
  value.output_spatial = dims_of(from.output_spatial_dimensions());
  value.input_unknown = dims_of(from.input_unknown());
  value.kernel_unknown = dims_of(from.kernel_unknown());
  if (!labels_all({&value.input_spatial, &value.input_unknown}, value.input_batch,
                  value.input_feature) ||
      !labels_all({&value.kernel_spatial, &value.kernel_unknown}, value.kernel_input_feature,
                  value.kernel_output_feature) ||
      !labels_all({&value.output_spatial}, value.output_batch, value.output_feature))
    return fail(ErrorKind::Shape, "convolution dimensions that are not each labelled once");
  return {};
}
Result<void> get(const ProtoSource& source, std::optional<ConvolutionLabels>& value) {
  if (!source.instruction.has_convolution_dimension_numbers()) return {};
  return get(source, value.emplace());
}

void put(const ProtoPlace& place, const SliceDims& value) {
  for (const SliceDim& dim : value.dims) {
    auto& added = *place.instruction.add_slice_dimensions();
    added.set_start(dim.start);
    added.set_limit(dim.limit);
    added.set_stride(dim.stride);
  }
}
Result<void> get(const ProtoSource& source, SliceDims& value) {
  for (const auto& dim : source.instruction.slice_dimensions())
    value.dims.push_back({dim.start(), dim.limit(), dim.stride()});
  return {};
}

void put(const ProtoPlace& place, const PaddingConfig& value) {
  proto::PaddingConfig& to = *place.instruction.mutable_padding_config();
  for (const PaddingDim& dim : value.dims) {
    auto& added = *to.add_dimensions();
    added.set_edge_padding_low(dim.low);
    added.set_edge_padding_high(dim.high);
    added.set_interior_padding(dim.interior);
  }
}
Result<void> get(const ProtoSource& source, PaddingConfig& value) {
  for (const auto& dim : source.instruction.padding_config().dimensions())
    value.dims.push_back({dim.edge_padding_low(), dim.edge_padding_high(), dim.interior_padding()});
  return {};
}

// XLA writes one for each operand; where all are the default the text says nothing.
void put(const ProtoPlace& place, const Precisions& value) {
  for (Precision precision : value) put(place, precision);
  for (int i = value.empty() ? place.operand_count : 0; i > 0; --i) put(place, Precision::Default);
}
Result<void> get(const ProtoSource& source, Precisions& value) {
  static constexpr auto texts = enum_texts(std::type_identity<Precision>());
  for (int number : source.instruction.precision_config().operand_precision()) {
    if (number < 0 || number >= static_cast<int>(texts.size()))
      return fail(ErrorKind::Unsupported, "precision {}", number);
    value.push_back(static_cast<Precision>(number));
  }
  if (std::count(value.begin(), value.end(), Precision::Default) ==
      static_cast<std::ptrdiff_t>(value.size()))
    value.clear();
  return {};
}

void put(const ProtoPlace& place, const OutputOperandAliases& value) {
  for (const OutputOperandAlias& alias : value) {
    auto& added = *place.instruction.add_output_operand_aliasing();
    put_dims(alias.output_index, *added.mutable_output_shape_index());
    added.set_operand_index(alias.operand);
    put_dims(alias.operand_index, *added.mutable_operand_shape_index());
  }
}
Result<void> get(const ProtoSource& source, OutputOperandAliases& value) {
  for (const auto& alias : source.instruction.output_operand_aliasing())
    value.push_back({dims_of(alias.output_shape_index()), alias.operand_index(),
                     dims_of(alias.operand_shape_index())});
  return {};
}

void put(const ProtoPlace& place, const LiteralRef& value) {
  if (value.literal) write_literal(*value.literal, *place.instruction.mutable_literal());
  if (value.elided) place.instruction.mutable_literal()->set_elided(true);
}
Result<void> get(const ProtoSource& source, LiteralRef& value) {
  if (!source.instruction.has_literal()) {
    if (source.instruction.opcode() != text_of(Op::Constant)) return {};
    return fail(ErrorKind::Format, "a constant without a literal");
  }
  HILO_TRY(Literal literal, read_literal(source.instruction.literal()));
  value.literal = std::make_shared<const Literal>(std::move(literal));
  value.elided = source.instruction.literal().elided();
  return {};
}

// Text that is kept: domain={kind="sharding", entry={...}, exit={...}} and sparsity configurations.
// What the fields cannot say goes to the text attributes.
void put(const ProtoPlace& place, const RawText& value) {
  if (value.text.empty()) return;
  if (place.field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) return put_text(place, value.text);
  if (place.field.name() == "sparsity_config")
    write_sparsity(value.text, *place.instruction.mutable_sparsity_config());
  else write_domain(value.text, place.instruction);
  RawText back;
  std::span<const ComputationId> none;
  const ProtoSource source{place.instruction, place.message, place.field, 0, none};
  if (get(source, back) && back == value) return;
  proto::TextAttribute& kept = *place.instruction.add_text_attributes();
  kept.set_name(place.field.name());
  kept.set_value(value.text);
}
Result<void> get(const ProtoSource& source, RawText& value) {
  if (source.field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
    value.text = text_of(source);
    return {};
  }
  for (const proto::TextAttribute& kept : source.instruction.text_attributes())
    if (kept.name() == source.field.name()) return value.text = kept.value(), Result<void>();
  if (source.field.name() == "sparsity_config") {
    // Writers state the message of plain convolutions too, with nothing in it.
    const proto::SparsityConfig& config = source.instruction.sparsity_config();
    if (config.has_lhs() || config.has_rhs()) value.text = print_sparsity(config);
    return {};
  }
  HILO_TRY(value.text, read_domain(source.instruction));
  return {};
}

void put(const ProtoPlace& place, const std::optional<Shape>& value) {
  if (value) write_shape(*value, *place.instruction.mutable_outfeed_shape());
}
Result<void> get(const ProtoSource& source, std::optional<Shape>& value) {
  if (!source.instruction.has_outfeed_shape()) return {};
  HILO_TRY(value, read_shape(source.instruction.outfeed_shape()));
  return {};
}

void put(const ProtoPlace& place, const std::optional<std::vector<Shape>>& value) {
  if (!value) return;
  place.instruction.set_constrain_layout(true);
  for (const Shape& shape : *value)
    write_shape(shape, *place.instruction.add_operand_shapes_with_layout());
}
Result<void> get(const ProtoSource& source, std::optional<std::vector<Shape>>& value) {
  if (!source.instruction.constrain_layout()) return {};
  value.emplace();
  for (const proto::ShapeProto& from : source.instruction.operand_shapes_with_layout()) {
    HILO_TRY(Shape shape, read_shape(from));
    value->push_back(std::move(shape));
  }
  return {};
}

void put(const ProtoPlace& place, const ReplicaGroups& value) {
  write_groups(value, place.instruction);
}
Result<void> get(const ProtoSource& source, ReplicaGroups& value) {
  HILO_TRY(value, read_groups(source.instruction));
  return {};
}

void put(const ProtoPlace& place, const SourceTargetPairs& value) {
  for (const auto& [from, to] : value.pairs) {
    auto& added = *place.instruction.add_source_target_pairs();
    added.set_source(from);
    added.set_target(to);
  }
}
Result<void> get(const ProtoSource& source, SourceTargetPairs& value) {
  for (const auto& pair : source.instruction.source_target_pairs())
    value.pairs.emplace_back(pair.source(), pair.target());
  return {};
}

// All lists one after another, each as long as the array has dimensions.
void put(const ProtoPlace& place, const SliceSizesList& value) {
  for (const Dims& list : value.lists) put(place, list);
}
Result<void> get(const ProtoSource& source, SliceSizesList& value) {
  const auto& sizes = source.instruction.dynamic_slice_sizes();
  if (sizes.empty()) return {};
  if (source.rank < 1 || sizes.size() % source.rank != 0)
    return fail(ErrorKind::Shape, "{} slice sizes for arrays of {} dimensions", sizes.size(),
                source.rank);
  for (auto at = sizes.begin(); at != sizes.end(); at += source.rank)
    value.lists.emplace_back(at, at + source.rank);
  return {};
}

void put(const ProtoPlace& place, ComputationId value) {
  if (value) place.called.push_back(value);
}
void put(const ProtoPlace& place, const std::vector<ComputationId>& value) {
  place.called.insert(place.called.end(), value.begin(), value.end());
}
Result<void> get(const ProtoSource& source, ComputationId& value) {
  if (source.called.empty()) return {};
  value = source.called.front();
  source.called = source.called.subspan(1);
  return {};
}
Result<void> get(const ProtoSource& source, std::vector<ComputationId>& value) {
  value.assign(source.called.begin(), source.called.end());
  source.called = {};
  return {};
}

}  // namespace hilo

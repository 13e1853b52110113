// Attributes of StableHLO's and CHLO's own dialects in bytecode, which have no versions: what MLIR
// writes of a module that no portable artifact was made of. Codes: StablehloBytecode.cpp and
// ChloBytecode.cpp of StableHLO 1.17. Groups come out as the text's reader makes them; ungroup()
// takes them apart.
#include "wire/stablehlo/bytecode_reader.h"
#include "wire/stablehlo/structs.h"
#include "wire/stablehlo/vhlo_ops.h"

namespace hilo::mlir {
namespace {

enum StablehloAttribute : uint64_t {
  ChannelHandle = 1,
  DirectionCode,
  ComparisonTypeCode,
  ConvolutionDims,
  DotDims,
  FftTypeCode,
  GatherDims,
  PrecisionCode,
  AlgorithmCode,
  DistributionCode,
  ScatterDims,
  TransposeCode,
  BoundsCode,
  AliasCode,
  DotAlgorithm,
  AccuracyModeCode,
  AccuracyCode,
  MeshAxesCode,
  SubAxisCode,
  AxisRefCode,
  MeshAxisCode,
  MeshCode,
};
enum ChloAttribute : uint64_t { ChloDirection, ChloComparisonType };

// A part of a group, in the order of the bytes.
struct Part {
  std::string_view name;
  bool is_list = false;
};
constexpr Part channel_parts[] = {{"handle"}, {"type"}};
constexpr Part convolution_parts[] = {
    {"input_batch_dimension"},           {"input_feature_dimension"},
    {"input_spatial_dimensions", true},  {"kernel_input_feature_dimension"},
    {"kernel_output_feature_dimension"}, {"kernel_spatial_dimensions", true},
    {"output_batch_dimension"},          {"output_feature_dimension"},
    {"output_spatial_dimensions", true}};
constexpr Part dot_parts[] = {{"lhs_batching_dimensions", true},
                              {"rhs_batching_dimensions", true},
                              {"lhs_contracting_dimensions", true},
                              {"rhs_contracting_dimensions", true}};
constexpr Part gather_parts[] = {
    {"offset_dims", true},           {"collapsed_slice_dims", true},
    {"operand_batching_dims", true}, {"start_indices_batching_dims", true},
    {"start_index_map", true},       {"index_vector_dim"}};
constexpr Part scatter_parts[] = {
    {"update_window_dims", true},           {"inserted_window_dims", true},
    {"input_batching_dims", true},          {"scatter_indices_batching_dims", true},
    {"scatter_dims_to_operand_dims", true}, {"index_vector_dim"}};

struct Group {
  uint64_t code;
  std::string_view name;  // behind "stablehlo."
  std::span<const Part> parts;
};
constexpr Group groups[] = {{ChannelHandle, "channel_handle", channel_parts},
                            {ConvolutionDims, "conv", convolution_parts},
                            {DotDims, "dot", dot_parts},
                            {GatherDims, "gather", gather_parts},
                            {ScatterDims, "scatter", scatter_parts}};

std::optional<Form> enum_of(uint64_t code) {
  switch (code) {
    case DirectionCode: return Form::Direction;
    case ComparisonTypeCode: return Form::ComparisonType;
    case FftTypeCode: return Form::FftType;
    case AlgorithmCode: return Form::Algorithm;
    case DistributionCode: return Form::Distribution;
    case TransposeCode: return Form::Transpose;
    default: return {};
  }
}

Attribute enumerator(ByteCursor& in, std::string_view (*name_of)(uint64_t)) {
  const uint64_t number = in.varint();
  const std::string_view name = name_of(number);
  if (name.empty()) in.fail("{} is no value of its enum", number);
  return {.kind = AttributeKind::Enum, .text = std::string(name)};
}

Attribute enumerator(ByteCursor& in, Form form) {
  const uint64_t number = in.varint();
  const std::string_view name = enumerator_of(form, number);
  if (name.empty()) in.fail("{} is not {}", number, text_of(form));
  return {.kind = AttributeKind::Enum, .text = std::string(name)};
}

}  // namespace

Attribute BytecodeReader::stablehlo_attribute(ByteCursor& in) {
  const uint64_t code = in.varint();
  if (const auto form = enum_of(code)) return enumerator(in, *form);
  for (const Group& group : groups) {
    if (code != group.code) continue;
    Fields fields;
    for (const Part& part : group.parts)
      fields.emplace_back(part.name, part.is_list ? builder_.numbers(integers(in))
                                                  : builder_.integer(in.signed_varint()));
    return copy(builder_.structure(fmt::format("stablehlo.{}", group.name), std::move(fields)));
  }
  switch (code) {
    case PrecisionCode: return enumerator(in, precision_of);
    case AccuracyModeCode: return enumerator(in, accuracy_mode_of);
    case BoundsCode: return copy(builder_.numbers(integers(in)));
    case AliasCode: return alias(in);
    case AccuracyCode: return accuracy(in);
    case DotAlgorithm: return dot_algorithm(in);
    default: return stablehlo_mesh(in, code);
  }
}

Attribute BytecodeReader::dot_algorithm(ByteCursor& in) {
  Fields fields;
  for (const char* name : {"lhs_precision_type", "rhs_precision_type", "accumulation_type"})
    fields.emplace_back(name, builder_.type_attribute(type(in)));
  for (const char* name :
       {"lhs_component_count", "rhs_component_count", "num_primitive_operations"})
    fields.emplace_back(name, builder_.integer(in.signed_varint()));
  fields.emplace_back("allow_imprecise_accumulation", builder_.boolean(in.byte() != 0));
  return copy(builder_.structure("stablehlo.dot_algorithm", std::move(fields)));
}

// Meshes and their axes, of replica groups.
Attribute BytecodeReader::stablehlo_mesh(ByteCursor& in, uint64_t code) {
  switch (code) {
    case MeshAxesCode: {
      const AttributeId mesh = attribute(in);
      return copy(builder_.structure("mesh_axes",
                                     {{"mesh", mesh}, {"axes", builder_.array(attributes(in))}}));
    }
    case SubAxisCode: return sub_axis_sizes(in);
    case AxisRefCode: {
      const std::string name = string(in);
      const auto [pre_size, size] = sub_axis(in.byte() != 0 ? attribute(in) : AttributeId{});
      return copy(make_axis_ref(builder_, name, pre_size, size));
    }
    case MeshAxisCode: {
      const std::string name = string(in);
      return copy(make_axis(builder_, name, in.signed_varint()));
    }
    case MeshCode: {
      const AttributeId axes = attribute(in);
      const AttributeId ids = in.byte() != 0 ? attribute(in) : builder_.array({});
      return copy(builder_.structure("sdy.mesh", {{"axes", axes}, {"device_ids", ids}}));
    }
    default: return {.kind = AttributeKind::Struct, .text = "stablehlo.unknown"};
  }
}

Attribute BytecodeReader::chlo_attribute(ByteCursor& in) {
  switch (in.varint()) {
    case ChloDirection: return enumerator(in, Form::Direction);
    case ChloComparisonType: return enumerator(in, Form::ComparisonType);
    default: return {.kind = AttributeKind::Struct, .text = "chlo.unknown"};
  }
}

}  // namespace hilo::mlir

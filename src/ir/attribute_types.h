// The types that fields of attribute structs have. Each has one text form (text/fields.cpp) and one
// wire form; two fields that print differently have different types.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/base.h"
#include "shape/shape.h"

namespace hilo {

using InstructionId = Id<struct InstructionTag>;
using ComputationId = Id<struct ComputationTag>;
using ShapeId = Id<struct ShapeTag>;
using AttributesId = Id<struct AttributesTag>;
using ExtraId = Id<struct ExtraTag>;
using MetadataId = Id<struct MetadataTag>;
using UseId = Id<struct UseTag>;

#define ENUM_BEGIN(T) enum class T : uint8_t {
#define ENUM_VALUE(T, name, text, number) name,
#define ENUM_END(T) \
  }                 \
  ;
#include "ir/enums.def"
#undef ENUM_BEGIN
#undef ENUM_VALUE
#undef ENUM_END

// Texts and proto numbers of an enumeration, in the order of its values.
struct EnumText {
  std::string_view text;
  int number;
};
#define ENUM_BEGIN(T) \
  constexpr auto enum_texts(std::type_identity<T>) { return std::to_array<EnumText>({
#define ENUM_VALUE(T, name, text, number) {text, number},
#define ENUM_END(T) \
  });               \
  }
#include "ir/enums.def"
#undef ENUM_BEGIN
#undef ENUM_VALUE
#undef ENUM_END
template <class E>
std::string_view text_of_enum(E value) {
  static constexpr auto texts = enum_texts(std::type_identity<E>());
  return texts[static_cast<size_t>(value)].text;
}

// replica-group and sharding device orders: iota over `dims`, transposed by `permutation`,
// reshaped.
// `[2,4]<=[4,2]T(1,0)` has reshape {2,4}, dims {4,2}, permutation {1,0}.
struct IotaDevices {
  Dims reshape, dims, permutation;
  bool operator==(const IotaDevices&) const = default;
  Dims expand() const;  // the devices in the order of the reshaped array
};

struct MeshAxis {
  std::string name;
  int64_t size = 1;
  bool operator==(const MeshAxis&) const = default;
};
// mesh['x'=2,'y'=4], device_ids=(...) or ([4,2]T(1,0))
struct Mesh {
  std::vector<MeshAxis> axes;
  std::optional<IotaDevices> device_iota;  // device_ids=([4,2]T(1,0)): dims and permutation
  Dims device_ids;                         // device_ids=(0,2,1,3)
  bool operator==(const Mesh&) const = default;
  Dims devices() const;  // flat device ids, row-major over the axes
};
// 'x' or the sub-axis 'x':(2)4, which is `size` wide after `pre_size`.
struct AxisRef {
  std::string name;
  std::optional<std::pair<int64_t, int64_t>> sub;  // pre_size, size
  bool operator==(const AxisRef&) const = default;
};

struct ReplicaGroups {
  enum class Form : uint8_t { Explicit, Iota, Mesh };
  Form form = Form::Explicit;
  std::vector<Dims> groups;  // Explicit; empty = one group of all
  IotaDevices iota;          // Iota: reshape is {groups, size}
  Mesh mesh;
  std::vector<AxisRef> axes;  // Mesh: devices that differ only in these are one group
  bool operator==(const ReplicaGroups&) const = default;
  std::vector<Dims> expand() const;  // groups in order, for every form; empty stays empty
};

struct SourceTargetPairs {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  bool operator==(const SourceTargetPairs&) const = default;
};
// slice_sizes={{1,8,128},{1,8,128}} of collective-permute
struct SliceSizesList {
  std::vector<Dims> lists;
  bool operator==(const SliceSizesList&) const = default;
};

struct WindowDim {
  int64_t size = 1, stride = 1, padding_low = 0, padding_high = 0;
  int64_t window_dilation = 1, base_dilation = 1;
  bool reversal = false;
  bool operator==(const WindowDim&) const = default;
};
struct Window {
  std::vector<WindowDim> dims;
  bool operator==(const Window&) const = default;
};

// dim_labels=b01f_01io->b01f
struct ConvolutionLabels {
  int64_t input_batch = 0, input_feature = 0;
  Dims input_spatial;
  int64_t kernel_input_feature = 0, kernel_output_feature = 0;
  Dims kernel_spatial;
  int64_t output_batch = 0, output_feature = 0;
  Dims output_spatial;
  Dims input_unknown, kernel_unknown;  // dimensions labelled '?'
  bool operator==(const ConvolutionLabels&) const = default;
};

struct SliceDim {
  int64_t start = 0, limit = 0, stride = 1;
  bool operator==(const SliceDim&) const = default;
};
struct SliceDims {
  std::vector<SliceDim> dims;
  bool operator==(const SliceDims&) const = default;
};

struct PaddingDim {
  int64_t low = 0, high = 0, interior = 0;
  bool operator==(const PaddingDim&) const = default;
};
struct PaddingConfig {
  std::vector<PaddingDim> dims;
  bool operator==(const PaddingConfig&) const = default;
};

// {1}: (0, {2}): output index {1} shares the buffer of operand 0 at index {2}.
struct OutputOperandAlias {
  Dims output_index;
  int64_t operand = 0;
  Dims operand_index;
  bool operator==(const OutputOperandAlias&) const = default;
};
using OutputOperandAliases = std::vector<OutputOperandAlias>;

using Precisions = std::vector<Precision>;  // operand_precision={default,highest}

// A literal shared by copies of the module; equality is of bits.
struct LiteralRef {
  std::shared_ptr<const Literal> literal;  // null: none
  bool elided = false;                     // the text said constant({...}); values are made up
  bool operator==(const LiteralRef& other) const;
};

// Text kept as it stood, between its outer braces inclusive: sparsity_config, domain, statistics.
struct RawText {
  std::string text;
  bool operator==(const RawText&) const = default;
};

}  // namespace hilo

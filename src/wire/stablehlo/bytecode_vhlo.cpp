// Attributes of VHLO in bytecode. Codes: VhloBytecode.cpp of StableHLO.
#include "wire/stablehlo/bytecode_reader.h"
#include "wire/stablehlo/structs.h"
#include "wire/stablehlo/vhlo_ops.h"

namespace hilo::mlir {
namespace {

enum VhloAttributeCode : uint64_t {
  ArrayCode = 1,
  BooleanCode,
  DirectionCode,
  ComparisonTypeCode,
  ApiVersionCode,
  DictionaryCode,
  FftTypeCode,
  FloatCode,
  IntegerCode,
  AliasCode,
  PrecisionCode,
  AlgorithmCode,
  DistributionCode,
  TensorCode = 15,
  TransposeCode,
  TypeCode,
  BoundsCode,
  AccuracyModeCode,
  AccuracyCode,
  SubAxisCode,
  AxisRefCode,
  MeshAxesCode,
  MeshAxisCode,
  MeshCode,
};

std::string_view enumerator(uint64_t code, uint64_t number) {
  switch (code) {
    case DirectionCode: return enumerator_of(Form::Direction, number);
    case ComparisonTypeCode: return enumerator_of(Form::ComparisonType, number);
    case ApiVersionCode: return enumerator_of(Form::ApiVersion, number);
    case FftTypeCode: return enumerator_of(Form::FftType, number);
    case PrecisionCode: return precision_of(number);
    case AlgorithmCode: return enumerator_of(Form::Algorithm, number);
    case DistributionCode: return enumerator_of(Form::Distribution, number);
    case TransposeCode: return enumerator_of(Form::Transpose, number);
    default: return accuracy_mode_of(number);
  }
}

}  // namespace

Attribute BytecodeReader::vhlo_attribute(ByteCursor& in) {
  const uint64_t code = in.varint();
  switch (code) {
    case ArrayCode: return {.kind = AttributeKind::Array, .items = attributes(in)};
    case BooleanCode: return {.kind = AttributeKind::Bool, .integer = in.varint() != 0};
    case DictionaryCode: return {.kind = AttributeKind::Dictionary, .fields = named_attributes(in)};
    case FloatCode: return typed_float(in);
    case IntegerCode: return typed_integer(in);
    case TensorCode: return dense(in);
    case TypeCode: return {.kind = AttributeKind::Type, .type = type(in)};
    case BoundsCode: return copy(builder_.numbers(integers(in)));
    case DirectionCode:
    case ComparisonTypeCode:
    case ApiVersionCode:
    case FftTypeCode:
    case PrecisionCode:
    case AlgorithmCode:
    case DistributionCode:
    case TransposeCode:
    case AccuracyModeCode: {
      const uint64_t number = in.varint();
      const std::string_view name = enumerator(code, number);
      if (name.empty()) in.fail("{} is no value of VHLO's enum {}", number, code);
      return {.kind = AttributeKind::Enum, .text = std::string(name)};
    }
    default: return vhlo_struct(in, code);
  }
}

Attribute BytecodeReader::alias(ByteCursor& in) {
  const auto list = [&](const Dims& values) {
    std::vector<AttributeId> out;
    for (const int64_t value : values) out.push_back(builder_.integer(value));
    return builder_.array(std::move(out));
  };
  const Dims output = integers(in);
  const int64_t operand = in.signed_varint();
  const Dims index = integers(in);
  return copy(builder_.structure("alias", {{"output_index", list(output)},
                                           {"operand", builder_.integer(operand)},
                                           {"operand_index", list(index)}}));
}

Attribute BytecodeReader::accuracy(ByteCursor& in) {
  const double atol = float_value(in, ElementType::F64), rtol = float_value(in, ElementType::F64);
  const int64_t ulps = in.signed_varint();
  const TypeId f64 = builder_.scalar(ElementType::F64);
  return copy(builder_.structure("result_accuracy", {{"atol", builder_.number(atol, f64)},
                                                     {"rtol", builder_.number(rtol, f64)},
                                                     {"ulps", builder_.integer(ulps)},
                                                     {"mode", attribute(in)}}));
}

Attribute BytecodeReader::sub_axis_sizes(ByteCursor& in) {
  const int64_t pre_size = in.signed_varint(), size = in.signed_varint();
  return copy(builder_.structure("sdy.sub_axis", {{"pre_size", builder_.integer(pre_size)},
                                                  {"size", builder_.integer(size)}}));
}

// Optional parts follow a number that says whether they are there.
Attribute BytecodeReader::vhlo_struct(ByteCursor& in, uint64_t code) {
  switch (code) {
    case AliasCode: return alias(in);
    case AccuracyCode: return accuracy(in);
    case SubAxisCode: return sub_axis_sizes(in);
    case MeshAxesCode: {
      const AttributeId mesh = attribute(in), axes = attribute(in);
      if (in.failed()) return {};
      const Attribute& name = builder_.program[mesh];
      const AttributeId symbol =
          name.kind == AttributeKind::String ? builder_.symbol(std::string(name.text)) : mesh;
      return copy(builder_.structure("mesh_axes", {{"mesh", symbol}, {"axes", axes}}));
    }
    case AxisRefCode: {
      const std::string name = text(in, attribute(in));
      const auto [pre_size, size] = sub_axis(in.varint() != 0 ? attribute(in) : AttributeId{});
      return copy(make_axis_ref(builder_, name, pre_size, size));
    }
    case MeshAxisCode: {
      const std::string name = text(in, attribute(in));
      return copy(make_axis(builder_, name, in.signed_varint()));
    }
    case MeshCode: {
      const AttributeId axes = attribute(in);
      const AttributeId ids = in.varint() != 0 ? attribute(in) : builder_.array({});
      return copy(builder_.structure("sdy.mesh", {{"axes", axes}, {"device_ids", ids}}));
    }
    default: return {.kind = AttributeKind::Struct, .text = "vhlo.unknown"};
  }
}

}  // namespace hilo::mlir

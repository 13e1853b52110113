// Types by their codes in VhloBytecode.cpp of StableHLO.
#include <bit>

#include "wire/stablehlo/bytecode_writer.h"

namespace hilo::mlir {
namespace {

using E = ElementType;

struct Code {
  ElementType element;
  uint64_t code;
};
constexpr Code codes[] = {
    {E::Pred, 0},      {E::BF16, 2},        {E::F16, 3},         {E::F32, 4},
    {E::F64, 5},       {E::F8E4M3FN, 6},    {E::F8E5M2, 7},      {E::S4, 10},
    {E::S8, 11},       {E::S16, 12},        {E::S32, 13},        {E::S64, 14},
    {E::U4, 15},       {E::U8, 16},         {E::U16, 17},        {E::U32, 18},
    {E::U64, 19},      {E::F8E4M3FNUZ, 27}, {E::F8E5M2FNUZ, 28}, {E::F8E4M3B11FNUZ, 29},
    {E::S2, 31},       {E::U2, 32},         {E::F8E4M3, 35},     {E::F8E3M4, 36},
    {E::F4E2M1FN, 37}, {E::F6E2M3FN, 38},   {E::F6E3M2FN, 39},   {E::F8E8M0FNU, 40}};

enum VhloType : uint64_t {
  VhloComplex = 1,
  VhloFunction = 8,
  VhloIndex = 9,
  VhloTensor = 20,
  VhloEncodedTensor,
  VhloToken,
  VhloTuple,
  VhloQuantized,
  VhloQuantizedAxis = 30,
  VhloNone = 33,
  VhloTf32,
  VhloFuture = 42,
};
constexpr uint64_t type_extensions = 18;  // an attribute: the bounds of a tensor

uint64_t code_of(ElementType element) {
  for (const Code& one : codes)
    if (one.element == element) return one.code;
  fail_check("an element type that VHLO does not have", std::source_location::current());
}

ElementType signed_of(int bits) {
  for (const Code& one : codes)
    if (is_signed(one.element) && bits_of(one.element) == bits) return one.element;
  fail_check("a width that no integer of VHLO has", std::source_location::current());
}

}  // namespace

// Storage types are signless: a flag says whether they have a sign.
void BytecodeWriter::write_quantized(ByteWriter& out, const Quantization& from) {
  const auto number = [&](ElementType element) {
    ByteWriter scalar;
    scalar.varint(code_of(element));
    return types_.number(Dialect::Vhlo, scalar.take());
  };
  const auto limits = [&] { out.signed_varint(from.min), out.signed_varint(from.max); };
  const auto scale = [&](double value) {
    out.signed_varint(static_cast<int64_t>(std::bit_cast<uint64_t>(value)));
  };
  const uint64_t storage = number(signed_of(bits_of(from.storage)));
  const uint64_t expressed = number(from.expressed);
  out.varint(from.axis ? VhloQuantizedAxis : VhloQuantized);
  out.varint(is_signed(from.storage) ? 1 : 0);
  out.varint(storage);
  out.varint(expressed);
  if (from.axis) {
    out.varint(static_cast<uint64_t>(*from.axis));
    limits();
    out.varint(from.scales.size());
    for (const double each : from.scales) scale(each);
    out.varint(from.zero_points.size());
    for (const int64_t each : from.zero_points) out.signed_varint(each);
  } else {
    scale(from.scales[0]);
    out.signed_varint(from.zero_points[0]);
    limits();
  }
}

uint64_t BytecodeWriter::type(TypeId id) {
  const auto known = type_numbers_.find(id);
  if (known != type_numbers_.end()) return known->second;
  const Type& from = program_[id];
  std::vector<uint64_t> parts;
  for (const TypeId part : from.types) parts.push_back(type(part));
  ByteWriter out;
  const auto list = [&](size_t first, size_t end) {
    out.varint(end - first);
    for (size_t i = first; i < end; ++i) out.varint(parts[i]);
  };
  switch (from.kind) {
    case TypeKind::Scalar:
      if (is_complex(from.element)) {
        ByteWriter real;
        real.varint(code_of(real_type_of(from.element)));
        out.varint(VhloComplex);
        out.varint(types_.number(Dialect::Vhlo, real.take()));
      } else {
        out.varint(code_of(from.element));
      }
      break;
    case TypeKind::Index: out.varint(VhloIndex); break;
    case TypeKind::Token: out.varint(VhloToken); break;
    case TypeKind::None: out.varint(VhloNone); break;
    case TypeKind::Other: out.varint(VhloTf32); break;
    case TypeKind::Tuple:
    case TypeKind::Future:
      out.varint(from.kind == TypeKind::Tuple ? VhloTuple : VhloFuture);
      list(0, parts.size());
      break;
    case TypeKind::Function:
      out.varint(VhloFunction);
      list(0, from.inputs);
      list(from.inputs, parts.size());
      break;
    case TypeKind::Tensor: {
      const uint64_t element = type(from.element_type);
      if (!from.bounds.empty()) {
        ByteWriter bounds;
        bounds.varint(type_extensions);
        bounds.varint(from.bounds.size());
        for (const int64_t bound : from.bounds) bounds.signed_varint(bound);
        const uint64_t encoding = attributes_.number(Dialect::Vhlo, bounds.take());
        out.varint(VhloEncodedTensor);
        out.varint(encoding);
      } else {
        out.varint(VhloTensor);
      }
      out.varint(from.dims.size());
      for (const int64_t dim : from.dims) out.signed_varint(dim);
      out.varint(element);
      break;
    }
    case TypeKind::Quantized: write_quantized(out, *from.quantization); break;
  }
  const uint64_t number = types_.number(Dialect::Vhlo, out.take());
  type_numbers_.emplace(id, number);
  return number;
}

}  // namespace hilo::mlir

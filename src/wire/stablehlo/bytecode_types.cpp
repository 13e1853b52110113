// Types of bytecode. Codes: BuiltinDialectBytecode.td of MLIR, VhloBytecode.cpp of StableHLO.
#include "wire/stablehlo/bytecode_reader.h"
#include "wire/stablehlo/dense_elements.h"

namespace hilo::mlir {
namespace {

using E = ElementType;

// Signless integers are signed; i1 is Pred.
ElementType integer_element(uint64_t width, bool is_unsigned) {
  switch (width) {
    case 1: return is_unsigned ? E::U1 : E::Pred;
    case 2: return is_unsigned ? E::U2 : E::S2;
    case 4: return is_unsigned ? E::U4 : E::S4;
    case 8: return is_unsigned ? E::U8 : E::S8;
    case 16: return is_unsigned ? E::U16 : E::S16;
    case 32: return is_unsigned ? E::U32 : E::S32;
    case 64: return is_unsigned ? E::U64 : E::S64;
    default: return E::Invalid;
  }
}

// By their codes; Invalid where the code is no number's.
constexpr ElementType vhlo_elements[] = {
    E::Pred,     E::Invalid,  E::BF16,     E::F16,        E::F32,        E::F64,
    E::F8E4M3FN, E::F8E5M2,   E::Invalid,  E::Invalid,    E::S4,         E::S8,
    E::S16,      E::S32,      E::S64,      E::U4,         E::U8,         E::U16,
    E::U32,      E::U64,      E::Invalid,  E::Invalid,    E::Invalid,    E::Invalid,
    E::Invalid,  E::Invalid,  E::Invalid,  E::F8E4M3FNUZ, E::F8E5M2FNUZ, E::F8E4M3B11FNUZ,
    E::Invalid,  E::S2,       E::U2,       E::Invalid,    E::Invalid,    E::F8E4M3,
    E::F8E3M4,   E::F4E2M1FN, E::F6E2M3FN, E::F6E3M2FN,   E::F8E8M0FNU};

enum BuiltinType : uint64_t {
  IntegerType,
  IndexType,
  FunctionType,
  Bfloat16,
  Float16,
  Float32,
  Float64,
  ComplexType = 9,
  NoneType = 12,
  RankedTensor,
  EncodedTensor,
  TupleType,
  BuiltinTf32 = 21,
  FirstSmallFloat,
};
constexpr ElementType builtin_small_floats[] = {
    E::F8E5M2, E::F8E4M3,   E::F8E4M3FN, E::F8E5M2FNUZ, E::F8E4M3FNUZ, E::F8E4M3B11FNUZ,
    E::F8E3M4, E::F4E2M1FN, E::F6E2M3FN, E::F6E3M2FN,   E::F8E8M0FNU};
enum VhloType : uint64_t {
  VhloComplex = 1,
  VhloFunction = 8,
  VhloIndex,
  VhloTensor = 20,
  VhloEncodedTensor,
  VhloToken,
  VhloTuple,
  VhloQuantized,
  VhloWitness = 26,
  VhloQuantizedAxis = 30,
  VhloNone = 33,
  VhloTf32,
  VhloFuture = 42,
};
// StablehloBytecode.cpp of StableHLO.
enum StablehloType : uint64_t { StablehloToken, StablehloFuture };

}  // namespace

void BytecodeReader::read_types() {
  types_.assign(file_.types.size(), {});
  is_open_.assign(file_.types.size(), false);
  for (size_t i = 0; i < types_.size() && !fault_; ++i) type_at(i, 0, 0);
}

TypeId BytecodeReader::type_at(size_t index, int depth, int64_t offset) {
  if (types_[index]) return types_[index];
  constexpr int max_depth = 100;
  if (is_open_[index] || depth > max_depth) {
    fault_.set(is_open_[index] ? ErrorKind::Format : ErrorKind::Limit, offset, "type {} {}", index,
               is_open_[index] ? "holds itself" : "nests too deep");
    return {};
  }
  is_open_[index] = true;
  types_[index] = read_type(file_.types[index], depth);
  is_open_[index] = false;
  return types_[index];
}

TypeId BytecodeReader::read_type(const BytecodeEntry& entry, int depth) {
  const std::string_view owner = dialect(entry.dialect);
  ByteCursor in(entry.bytes, entry.offset, fault_);
  if (!entry.is_custom) return builder_.other(std::string(in.terminated()));
  if (owner == "builtin") return builtin_type(in, depth);
  if (owner == "vhlo") return vhlo_type(in, depth);
  if (owner == "stablehlo") return stablehlo_type(in, depth);
  return builder_.other(fmt::format("{}.unknown_{}", owner, in.varint()));
}

TypeId BytecodeReader::stablehlo_type(ByteCursor& in, int depth) {
  const uint64_t code = in.varint();
  switch (code) {
    case StablehloToken: return builder_.intern({.kind = TypeKind::Token});
    case StablehloFuture:
      return builder_.intern({.kind = TypeKind::Future, .types = children(in, depth)});
    default: return builder_.other(fmt::format("stablehlo.unknown_{}", code));
  }
}

// Of the encodings, those that bound dynamic dimensions mean something here.
TypeId BytecodeReader::encoded_tensor_type(ByteCursor& in, int depth) {
  const size_t index = in.index(file_.attributes.size(), "attribute");
  if (in.failed()) return {};
  const BytecodeEntry& entry = file_.attributes[index];
  const std::string_view owner = dialect(entry.dialect);
  constexpr uint64_t vhlo_bounds = 18, stablehlo_bounds = 13;
  const bool is_ours = entry.is_custom && (owner == "vhlo" || owner == "stablehlo");
  if (!is_ours) return tensor_type(in, depth, {});
  ByteCursor encoding(entry.bytes, entry.offset, fault_);
  const bool is_bounds = encoding.varint() == (owner == "vhlo" ? vhlo_bounds : stablehlo_bounds);
  return tensor_type(in, depth, is_bounds ? integers(encoding) : Dims());
}

TypeId BytecodeReader::child(ByteCursor& in, int depth) {
  const size_t index = in.index(file_.types.size(), "type");
  return in.failed() ? TypeId{} : type_at(index, depth + 1, in.offset());
}
std::vector<TypeId> BytecodeReader::children(ByteCursor& in, int depth) {
  std::vector<TypeId> out;
  const size_t count = in.count("types");
  for (size_t i = 0; i < count && !in.failed(); ++i) out.push_back(child(in, depth));
  return out;
}
TypeId BytecodeReader::type(ByteCursor& in) {
  const size_t index = in.index(types_.size(), "type");
  return in.failed() ? TypeId{} : types_[index];
}

TypeId BytecodeReader::builtin_type(ByteCursor& in, int depth) {
  const uint64_t code = in.varint();
  switch (code) {
    case IntegerType: {
      const uint64_t head = in.varint(), width = head >> 2;
      constexpr uint64_t unsigned_mark = 2;
      const bool is_unsigned = (head & 3) == unsigned_mark;
      const ElementType element = integer_element(width, is_unsigned);
      if (element != E::Invalid) return builder_.scalar(element);
      return builder_.other(fmt::format("{}i{}", is_unsigned ? "u" : "", width));
    }
    case IndexType: return builder_.intern({.kind = TypeKind::Index});
    case FunctionType: {
      Type out{.kind = TypeKind::Function, .types = children(in, depth)};
      out.inputs = out.types.size();
      for (const TypeId result : children(in, depth)) out.types.push_back(result);
      return builder_.intern(std::move(out));
    }
    case Bfloat16: return builder_.scalar(E::BF16);
    case Float16: return builder_.scalar(E::F16);
    case Float32: return builder_.scalar(E::F32);
    case Float64: return builder_.scalar(E::F64);
    case ComplexType: {
      const TypeId part = child(in, depth);
      if (in.failed()) return {};
      const ElementType real = builder_.program[part].element;
      if (real == E::F32 || real == E::F64) return builder_.scalar(complex_type_of(real));
      return builder_.other("complex");
    }
    case NoneType: return builder_.none();
    case RankedTensor: return tensor_type(in, depth, {});
    case EncodedTensor: return encoded_tensor_type(in, depth);
    case TupleType: return builder_.intern({.kind = TypeKind::Tuple, .types = children(in, depth)});
    case BuiltinTf32: return builder_.other("tf32");
    default: break;
  }
  if (code >= FirstSmallFloat && code - FirstSmallFloat < std::size(builtin_small_floats))
    return builder_.scalar(builtin_small_floats[code - FirstSmallFloat]);
  return builder_.other(fmt::format("builtin.unknown_{}", code));
}

TypeId BytecodeReader::vhlo_type(ByteCursor& in, int depth) {
  const uint64_t code = in.varint();
  if (code < std::size(vhlo_elements) && vhlo_elements[code] != E::Invalid)
    return builder_.scalar(vhlo_elements[code]);
  switch (code) {
    case VhloComplex: {
      const TypeId part = child(in, depth);
      if (in.failed()) return {};
      const ElementType real = builder_.program[part].element;
      if (real == E::F32 || real == E::F64) return builder_.scalar(complex_type_of(real));
      in.fail("a complex type of no f32 or f64");
      return {};
    }
    case VhloFunction: {
      Type out{.kind = TypeKind::Function, .types = children(in, depth)};
      out.inputs = out.types.size();
      for (const TypeId result : children(in, depth)) out.types.push_back(result);
      return builder_.intern(std::move(out));
    }
    case VhloIndex: return builder_.intern({.kind = TypeKind::Index});
    case VhloTensor: return tensor_type(in, depth, {});
    case VhloEncodedTensor: return encoded_tensor_type(in, depth);
    case VhloToken: return builder_.intern({.kind = TypeKind::Token});
    case VhloTuple: return builder_.intern({.kind = TypeKind::Tuple, .types = children(in, depth)});
    case VhloQuantized:
    case VhloQuantizedAxis: return quantized_type(in, depth, code == VhloQuantizedAxis);
    case VhloNone: return builder_.none();
    case VhloTf32: return builder_.other("tf32");
    case VhloFuture:
      return builder_.intern({.kind = TypeKind::Future, .types = children(in, depth)});
    default: return builder_.other(fmt::format("vhlo.unknown_{}", code));
  }
}

TypeId BytecodeReader::tensor_type(ByteCursor& in, int depth, Dims bounds) {
  Type out{.kind = TypeKind::Tensor, .dims = integers(in), .bounds = std::move(bounds)};
  out.element_type = child(in, depth);
  if (in.failed()) return {};
  const TypeKind element = builder_.program[out.element_type].kind;
  if (element == TypeKind::Tensor || element == TypeKind::Tuple || element == TypeKind::Token)
    in.fail("elements of a tensor are numbers");
  for (const int64_t dim : out.dims)
    if (dim < 0 && dim != Type::dynamic) in.fail("a dimension of {}", dim);
  if (!out.bounds.empty() && out.bounds.size() != out.dims.size())
    in.fail("{} bounds for {} dimensions", out.bounds.size(), out.dims.size());
  return builder_.intern(std::move(out));
}

// Storage types are signless: a flag says whether they have a sign.
TypeId BytecodeReader::quantized_type(ByteCursor& in, int depth, bool is_per_axis) {
  auto out = std::make_shared<Quantization>();
  const bool is_signed = in.varint() & 1;
  const TypeId storage = child(in, depth), expressed = child(in, depth);
  if (in.failed()) return {};
  const ElementType stored = builder_.program[storage].element;
  out->storage = stored == E::Invalid
                     ? stored
                     : integer_element(static_cast<uint64_t>(bits_of(stored)), !is_signed);
  out->expressed = builder_.program[expressed].element;
  const auto limits = [&] { out->min = in.signed_varint(), out->max = in.signed_varint(); };
  if (is_per_axis) {
    out->axis = static_cast<int64_t>(in.varint());
    limits();
    const size_t scales = in.count("scales");
    for (size_t i = 0; i < scales && !in.failed(); ++i)
      out->scales.push_back(float_value(in, E::F64));
    out->zero_points = integers(in);
    if (out->zero_points.size() != out->scales.size()) in.fail("scales without zero points");
  } else {
    out->scales.push_back(float_value(in, E::F64));
    out->zero_points.push_back(in.signed_varint());
    limits();
  }
  return builder_.intern({.kind = TypeKind::Quantized, .quantization = std::move(out)});
}

}  // namespace hilo::mlir

#include "emit/ir_types.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/PatternMatch.h>

#include <cmath>

#include "analysis/analysis.h"
#include "emit/bf16_rounding.h"
#include "emit/complex.h"
#include "emit/small_floats.h"
#include "emit/vector_registers.h"
#include "shape/shape.h"

namespace hilo {
namespace {

llvm::Value* bits_of_float(Builder& b, llvm::Value* value) {
  return b.CreateBitCast(value, b.getInt32Ty());
}
llvm::Value* float_of_bits(Builder& b, llvm::Value* bits) {
  return b.CreateBitCast(bits, b.getFloatTy());
}

bool is_narrow_integer(ElementType type) { return is_integral(type) && bits_of(type) < 8; }

template <class T>
llvm::Constant* held_constant(Builder& b, ElementType type, T value) {
  llvm::Type* held = held_type(b, type);
  if constexpr (requires { value.real(); }) {
    llvm::Type* part = held->getScalarType();
    return llvm::ConstantVector::get({llvm::ConstantFP::get(part, double(value.real())),
                                      llvm::ConstantFP::get(part, double(value.imag()))});
  } else if constexpr (std::is_floating_point_v<T>) {
    return llvm::ConstantFP::get(b.getContext(), llvm::APFloat(value));
  } else {
    if (is_floating(type))
      return llvm::ConstantFP::get(b.getContext(), llvm::APFloat(static_cast<float>(value)));
    return llvm::ConstantInt::get(held, static_cast<uint64_t>(static_cast<int64_t>(value)),
                                  is_signed(type), true);
  }
}

// Where the parts of an element lie, and how they are aligned.
struct PartAddresses {
  llvm::Type* type;
  llvm::Value *real, *imaginary;
  llvm::Align align;
};
PartAddresses part_addresses(Builder& b, ElementType type, llvm::Value* array,
                             llvm::Value* position) {
  llvm::Type* part = held_type(b, type)->getScalarType();
  llvm::Value* first = b.CreateNSWMul(position, b.getInt64(2));
  llvm::Value* second = b.CreateNSWAdd(first, b.getInt64(1));
  return {part, b.CreateInBoundsGEP(part, array, first), b.CreateInBoundsGEP(part, array, second),
          llvm::Align(static_cast<uint64_t>(storage_bytes(type) / 2))};
}

llvm::Value* load_complex(Builder& b, ElementType type, llvm::Value* array, llvm::Value* position) {
  const PartAddresses at = part_addresses(b, type, array, position);
  return joined(b, {b.CreateAlignedLoad(at.type, at.real, at.align),
                    b.CreateAlignedLoad(at.type, at.imaginary, at.align)});
}

void store_complex(Builder& b, ElementType type, llvm::Value* array, llvm::Value* position,
                   llvm::Value* held) {
  const PartAddresses at = part_addresses(b, type, array, position);
  const Complex parts = parts_of(b, held);
  b.CreateAlignedStore(parts.real, at.real, at.align);
  b.CreateAlignedStore(parts.imaginary, at.imaginary, at.align);
}

}  // namespace

llvm::Type* held_type(Builder& b, ElementType type) {
  if (type == ElementType::Pred) return b.getInt1Ty();
  if (type == ElementType::F64) return b.getDoubleTy();
  if (type == ElementType::C64) return llvm::FixedVectorType::get(b.getFloatTy(), 2);
  if (type == ElementType::C128) return llvm::FixedVectorType::get(b.getDoubleTy(), 2);
  if (is_floating(type)) return b.getFloatTy();
  return b.getIntNTy(8 * static_cast<unsigned>(storage_bytes(type)));
}

llvm::Type* stored_type(Builder& b, ElementType type) {
  if (type == ElementType::Pred) return b.getInt8Ty();
  if (type == ElementType::BF16) return b.getInt16Ty();
  if (type == ElementType::F16) return b.getHalfTy();
  if (is_small_float(type)) return b.getInt8Ty();
  return held_type(b, type);
}

llvm::Value* load_element(Builder& b, ElementType type, llvm::Value* array, llvm::Value* position) {
  if (is_complex(type)) return load_complex(b, type, array, position);
  llvm::Type* stored = stored_type(b, type);
  const llvm::Align align(static_cast<uint64_t>(std::min<int64_t>(storage_bytes(type), 8)));
  llvm::Value* raw =
      b.CreateAlignedLoad(stored, b.CreateInBoundsGEP(stored, array, position), align);
  if (type == ElementType::Pred) return b.CreateICmpNE(raw, b.getInt8(0));
  if (type == ElementType::BF16)
    return float_of_bits(b, b.CreateShl(b.CreateZExt(raw, b.getInt32Ty()), 16));
  if (type == ElementType::F16) return b.CreateFPExt(raw, b.getFloatTy());
  if (is_small_float(type)) return small_float_of_bits(b, type, raw);
  return raw;
}

void store_element(Builder& b, ElementType type, llvm::Value* array, llvm::Value* position,
                   llvm::Value* held) {
  if (is_complex(type)) return store_complex(b, type, array, position, held);
  llvm::Type* stored = stored_type(b, type);
  if (type == ElementType::Pred) held = b.CreateZExt(held, stored);
  if (type == ElementType::BF16)
    held = b.CreateTrunc(b.CreateLShr(bits_of_float(b, held), 16), stored);
  if (type == ElementType::F16) held = b.CreateFPTrunc(held, stored);
  if (is_small_float(type)) held = bits_of_small_float(b, type, held);
  const llvm::Align align(static_cast<uint64_t>(std::min<int64_t>(storage_bytes(type), 8)));
  b.CreateAlignedStore(held, b.CreateInBoundsGEP(stored, array, position), align);
}

namespace {

constexpr double above_bf16 = 0x1p16;  // so many bits f32 has more

// Whether an f32 is one that bf16 holds, since it was rounded before or chosen among such.
bool is_bf16(const llvm::Value* x, size_t depth = 0) {
  using namespace llvm::PatternMatch;
  if (depth > SearchBudget::max_depth) return false;
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantFP>(x))
    return constant->getValueAPF().bitcastToAPInt().countr_zero() >= 16;
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(x))
    return is_in_array_of_bf16(load->getPointerOperand());
  const llvm::Value *a = nullptr, *c = nullptr;
  if (match(x, m_Select(m_Value(), m_Value(a), m_Value(c))))
    return is_bf16(a, depth + 1) && is_bf16(c, depth + 1);
  if (match(x, m_Intrinsic<llvm::Intrinsic::maximum>(m_Value(a), m_Value(c))) ||
      match(x, m_Intrinsic<llvm::Intrinsic::minimum>(m_Value(a), m_Value(c))))
    return is_bf16(a, depth + 1) && is_bf16(c, depth + 1);
  if (match(x, m_FNeg(m_Value(a))) || match(x, m_FAbs(m_Value(a))) ||
      match(x, m_CopySign(m_Value(a), m_Value())))
    return is_bf16(a, depth + 1);
  if (match(x, m_Intrinsic<llvm::Intrinsic::fmuladd>(
                   m_Value(a), m_SpecificFP(above_bf16),
                   m_FMul(m_Deferred(a), m_SpecificFP(1 - above_bf16)))))
    return true;
  return match(x, m_BitCast(m_And(m_Value(), m_SpecificInt(0xffff0000u)))) ||
         match(x, m_BitCast(m_Shl(m_Value(), m_SpecificInt(16))));
}

}  // namespace

llvm::Value* round_to_bf16(Builder& b, llvm::Value* value) {
  if (is_bf16(value)) return value;
  llvm::Value* raw = bits_of_float(b, value);
  llvm::Value* last = b.CreateAnd(b.CreateLShr(raw, 16), b.getInt32(1));
  llvm::Value* rounded = b.CreateAdd(b.CreateAdd(raw, b.getInt32(0x7fff)), last);
  llvm::Value* nan = b.CreateOr(raw, b.getInt32(0x400000));
  llvm::Value* chosen = b.CreateSelect(b.CreateFCmpUNO(value, value), nan, rounded);
  return float_of_bits(b, b.CreateAnd(chosen, b.getInt32(0xffff0000u)));
}

// (2^16 - 1) x has its last place where bf16 has that of x, or the next where both are as near, and
// its difference to 2^16 x is exact (after Dekker, "A floating-point technique for extending the
// available precision", Numerische Mathematik 18, 1971). Ties go to even: where x ends in a half of
// that place, 2^16 x is an even number of places. A zero has no sign then. Chips with AVX-512 may
// have an instruction.
llvm::Value* round_limited_to_bf16(Builder& b, llvm::Value* value) {
  const VectorRegisters registers = vector_registers(*b.GetInsertBlock()->getModule());
  if (registers.bytes >= 64 || is_bf16(value)) return round_to_bf16(b, value);
  llvm::Type* type = value->getType();
  llvm::Value* less = b.CreateFMul(value, llvm::ConstantFP::get(type, 1 - above_bf16));
  llvm::Value* scale = llvm::ConstantFP::get(type, above_bf16);
  return b.CreateIntrinsic(llvm::Intrinsic::fmuladd, {type}, {value, scale, less});
}

llvm::Value* round_to(Builder& b, ElementType type, llvm::Value* held) {
  if (type == ElementType::BF16) return round_to_bf16(b, held);
  if (type == ElementType::F16)
    return b.CreateFPExt(b.CreateFPTrunc(held, b.getHalfTy()), b.getFloatTy());
  if (is_small_float(type)) return round_to_small_float(b, type, held);
  if (!is_narrow_integer(type)) return held;
  const auto unused = static_cast<uint64_t>(8 - bits_of(type));
  llvm::Value* high = b.CreateShl(held, unused);
  return is_signed(type) ? b.CreateAShr(high, unused) : b.CreateLShr(high, unused);
}

llvm::Value* constant_element(Builder& b, const Literal& literal, int64_t position) {
  return visit_storage(literal.type(), [&]<class T>(std::type_identity<T>) -> llvm::Value* {
    return held_constant(b, literal.type(), literal.data<T>()[static_cast<size_t>(position)]);
  });
}

}  // namespace hilo

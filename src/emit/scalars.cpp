#include "emit/scalars.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/PatternMatch.h>

#include <algorithm>
#include <cmath>

#include "emit/complex.h"
#include "emit/small_floats.h"
#include "emit/symbols.h"

namespace hilo {
namespace {

using llvm::Value;

// A double rounded to float so that a second rounding to a narrower type is right: toward zero,
// with the last bit set where something was lost.
Value* round_to_odd(Builder& b, Value* wide) {
  Value* near = b.CreateFPTrunc(wide, b.getFloatTy());
  Value* back = b.CreateFPExt(near, b.getDoubleTy());
  Value* raw = b.CreateBitCast(near, b.getInt32Ty());
  Value* beyond = b.CreateFCmpOGT(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back),
                                  b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, wide));
  Value* lower = b.CreateSub(raw, b.CreateZExt(beyond, b.getInt32Ty()));
  Value* odd = b.CreateOr(lower, b.CreateZExt(b.CreateFCmpONE(back, wide), b.getInt32Ty()));
  return b.CreateBitCast(odd, b.getFloatTy());
}

// By comparisons and a conversion of what has a result: LLVM's saturating conversions of vectors
// are done element by element on x86. What is less than 32 bits wide goes through 32.
Value* float_to_integer(Builder& b, ElementType to, Value* value) {
  const int width = bits_of(to), magnitude = is_signed(to) ? width - 1 : width;
  const bool is_narrow = width < 32;
  llvm::Type* wide = b.getIntNTy(static_cast<unsigned>(std::max(width, 32)));
  const auto real = [&](double x) { return llvm::ConstantFP::get(value->getType(), x); };
  Value* least = real(is_signed(to) ? -std::ldexp(1.0, magnitude) : 0);
  Value* inside = b.CreateSelect(b.CreateFCmpOGT(value, least), value, least);
  Value* out =
      is_signed(to) || is_narrow ? b.CreateFPToSI(inside, wide) : b.CreateFPToUI(inside, wide);
  const uint64_t most = magnitude == 0 ? 0 : ~uint64_t{0} >> (64 - magnitude);  // s1 has none
  Value* is_beyond = b.CreateFCmpOGE(value, real(std::ldexp(1.0, magnitude)));
  out = b.CreateSelect(is_beyond, llvm::ConstantInt::get(wide, most), out);
  out = b.CreateSelect(b.CreateFCmpUNO(value, value), llvm::ConstantInt::get(wide, 0), out);
  return b.CreateTrunc(out, held_type(b, to));
}

// By the bits, since the least power is a subnormal f32 and a normal double: to the exponent comes
// the difference of the biases.
Value* widen_power(Builder& b, Value* power) {
  llvm::Type *single = power->getType()->getWithNewType(b.getInt32Ty()),
             *bits = single->getWithNewType(b.getInt64Ty());
  Value* exponent = b.CreateZExt(b.CreateLShr(b.CreateBitCast(power, single), 23), bits);
  Value* raw =
      b.CreateShl(b.CreateAdd(exponent, llvm::ConstantInt::get(bits, uint64_t{1023 - 127})), 52);
  Value* wide = b.CreateBitCast(raw, bits->getWithNewType(b.getDoubleTy()));
  return b.CreateSelect(b.CreateFCmpUNO(power, power), llvm::ConstantFP::getNaN(wide->getType()),
                        wide);
}

Value* convert_float(Builder& b, ElementType from, ElementType to, Value* value) {
  if (is_integral(to)) return float_to_integer(b, to, value);
  if (to == ElementType::F64 && from == ElementType::F8E8M0FNU) return widen_power(b, value);
  if (to == ElementType::F64)
    return from == ElementType::F64 ? value : b.CreateFPExt(value, b.getDoubleTy());
  if (from == ElementType::F64)
    value =
        to == ElementType::F32 ? b.CreateFPTrunc(value, b.getFloatTy()) : round_to_odd(b, value);
  return round_to(b, to, value);
}

Value* convert_integer(Builder& b, ElementType from, ElementType to, Value* value) {
  const bool is_positive = !is_signed(from);
  llvm::Type* held = held_type(b, to);
  if (is_floating(to))
    return round_to(b, to, is_positive ? b.CreateUIToFP(value, held) : b.CreateSIToFP(value, held));
  Value* wide = is_positive ? b.CreateZExtOrTrunc(value, held) : b.CreateSExtOrTrunc(value, held);
  return round_to(b, to, wide);
}

Value* to_pred(Builder& b, ElementType from, Value* value) {
  if (from == ElementType::Pred) return value;
  if (is_complex(from)) {
    const Complex x = parts_of(b, value);
    return b.CreateOr(to_pred(b, real_type_of(from), x.real),
                      to_pred(b, real_type_of(from), x.imaginary));
  }
  if (from == ElementType::F8E8M0FNU)  // has no zero
    return llvm::ConstantInt::getTrue(llvm::CmpInst::makeCmpResultType(value->getType()));
  return is_floating(from) ? differs_from_zero(b, from, value)
                           : b.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType()));
}

Value* convert_complex(Builder& b, ElementType from, ElementType to, Value* value) {
  const Complex x = parts_of(b, value);
  if (!is_complex(to)) return convert(b, real_type_of(from), to, x.real);
  return joined(b, {convert(b, real_type_of(from), real_type_of(to), x.real),
                    convert(b, real_type_of(from), real_type_of(to), x.imaginary)});
}

// LLVM would take llvm.maximum of two widened numbers in the narrow type, for which processors have
// no instruction.
bool is_held_wide(ElementType type) { return type == ElementType::F16; }

// a where it is chosen or NaN, else c. Equal numbers have the same bits but for zeros, of which
// `both` gives the positive or the negative one.
Value* choose_held(Builder& b, Value* chosen, Value* a, Value* c,
                   llvm::Instruction::BinaryOps both) {
  llvm::Type* bits = a->getType()->getWithNewType(b.getInt32Ty());
  Value* zero = b.CreateBitCast(
      b.CreateBinOp(both, b.CreateBitCast(a, bits), b.CreateBitCast(c, bits)), a->getType());
  Value* otherwise = b.CreateSelect(b.CreateFCmpOEQ(a, c), zero, c);
  return b.CreateSelect(b.CreateOr(chosen, b.CreateFCmpUNO(a, a)), a, otherwise);
}

bool is_positive_zero(const Value* x) {
  using namespace llvm::PatternMatch;
  return match(x, m_PosZeroFP());
}

}  // namespace

// LLVM compares the bits of what is a bitcast, as each bf16 is, with those of zeros, in spite of
// the function's attribute "denormal-fp-math"; there the exponent is asked, which zeros do not
// have.
Value* differs_from_zero(Builder& b, ElementType type, Value* value) {
  const bool is_held_as_itself = type == ElementType::F32 || type == ElementType::F64;
  llvm::Type* held = value->getType();
  if ((is_held_as_itself && !llvm::isa<llvm::BitCastInst>(value)) ||
      held->getScalarType()->isHalfTy())
    return b.CreateFCmpUNE(value, llvm::Constant::getNullValue(held));
  const bool is_double = held->getScalarType()->isDoubleTy();
  llvm::Type* bits = held->getWithNewType(is_double ? b.getInt64Ty() : b.getInt32Ty());
  Value* exponent = llvm::ConstantInt::get(bits, is_double ? 0x7ff0000000000000 : 0x7f800000);
  return b.CreateICmpNE(b.CreateAnd(b.CreateBitCast(value, bits), exponent),
                        llvm::Constant::getNullValue(bits));
}

Value* convert(Builder& b, ElementType from, ElementType to, Value* held) {
  if (from == to) return held;
  if (to == ElementType::Pred) return to_pred(b, from, held);
  if (is_complex(from)) return convert_complex(b, from, to, held);
  if (is_complex(to)) {
    Value* real = convert(b, from, real_type_of(to), held);
    return joined(b, {real, llvm::Constant::getNullValue(real->getType())});
  }
  if (is_floating(from)) return convert_float(b, from, to, held);
  return convert_integer(b, from, to, held);
}

Value* bits_of_element(Builder& b, ElementType type, Value* held) {
  llvm::Type* bits = b.getIntNTy(static_cast<unsigned>(bits_of(type)));
  if (type == ElementType::Pred) return b.CreateZExt(held, b.getInt8Ty());
  if (type == ElementType::BF16)
    return b.CreateTrunc(b.CreateLShr(b.CreateBitCast(held, b.getInt32Ty()), 16), bits);
  if (type == ElementType::F16) return b.CreateBitCast(b.CreateFPTrunc(held, b.getHalfTy()), bits);
  if (is_small_float(type)) return b.CreateTrunc(bits_of_small_float(b, type, held), bits);
  return is_integral(type) ? b.CreateTrunc(held, bits) : b.CreateBitCast(held, bits);
}

Value* element_of_bits(Builder& b, ElementType type, Value* bits) {
  llvm::Type* held = held_type(b, type);
  if (type == ElementType::Pred) return b.CreateICmpNE(bits, b.getInt8(0));
  if (type == ElementType::BF16)
    return b.CreateBitCast(b.CreateShl(b.CreateZExt(bits, b.getInt32Ty()), 16), held);
  if (type == ElementType::F16) return b.CreateFPExt(b.CreateBitCast(bits, b.getHalfTy()), held);
  if (is_small_float(type)) return small_float_of_bits(b, type, b.CreateZExt(bits, b.getInt8Ty()));
  if (!is_integral(type)) return b.CreateBitCast(bits, held);
  return is_signed(type) ? b.CreateSExt(bits, held) : b.CreateZExt(bits, held);
}

Value* maximum(Builder& b, ElementType type, Value* a, Value* c) {
  if (is_floating(type)) {
    // One comparison says all beside a zero: NaN is what is not less.
    if (is_positive_zero(a)) std::swap(a, c);
    if (is_positive_zero(c)) return b.CreateSelect(b.CreateFCmpUGT(a, c), a, c);
    if (is_held_wide(type))
      return choose_held(b, b.CreateFCmpOGT(a, c), a, c, llvm::Instruction::And);
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::maximum, a, c);
  }
  Value* less = is_signed(type) ? b.CreateICmpSLT(a, c) : b.CreateICmpULT(a, c);
  return b.CreateSelect(less, c, a);
}

Value* minimum(Builder& b, ElementType type, Value* a, Value* c) {
  if (is_floating(type) && is_held_wide(type))
    return choose_held(b, b.CreateFCmpOLT(a, c), a, c, llvm::Instruction::Or);
  if (is_floating(type)) return b.CreateBinaryIntrinsic(llvm::Intrinsic::minimum, a, c);
  Value* less = is_signed(type) ? b.CreateICmpSLT(c, a) : b.CreateICmpULT(c, a);
  return b.CreateSelect(less, c, a);
}

Value* without_subnormal(Builder& b, Value* x) {
  const llvm::fltSemantics& format = x->getType()->getScalarType()->getFltSemantics();
  llvm::Value* least =
      llvm::ConstantFP::get(x->getType(), llvm::APFloat::getSmallestNormalized(format));
  llvm::Value* magnitude = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  llvm::Value* zero = b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign,
                                              llvm::Constant::getNullValue(x->getType()), x);
  return b.CreateSelect(b.CreateFCmpOLT(magnitude, least), zero, x);
}

Value* call_pure(Builder& b, const void* function, llvm::ArrayRef<Value*> arguments) {
  llvm::CallInst* call =
      b.CreateCall(libm_function(*b.GetInsertBlock()->getModule(), function), arguments);
  call->addFnAttr(llvm::Attribute::NoBuiltin);  // it is what the evaluator calls, and no other
  call->setDoesNotAccessMemory();
  call->setDoesNotThrow();
  call->addFnAttr(llvm::Attribute::WillReturn);
  return call;
}

}  // namespace hilo

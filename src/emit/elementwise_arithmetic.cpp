// Elementwise arithmetic, as HLO defines it: integers wrap, a division by zero gives all ones and a
// remainder the dividend, a shift by the width or more no bits.
#include <algorithm>

#include "emit/complex.h"
#include "emit/math.h"
#include "emit/scalars.h"
#include "emit/select_to_branch.h"

namespace hilo {
namespace {

using llvm::Value;

bool is_real_float(const ScalarCall& c) { return is_floating(c.type); }

Value* constant_of_type(Value* like, int64_t value) {
  return llvm::ConstantInt::get(like->getType(), static_cast<uint64_t>(value), true);
}

Value* safe_divisor(const ScalarCall& c, Value* zero, Value* minus_one) {
  Value* one = constant_of_type(c.in[1], 1);
  Value* unsafe = minus_one ? c.b.CreateOr(zero, minus_one) : zero;
  return c.b.CreateSelect(unsafe, one, c.in[1]);
}

// Whether a quotient is best found by floating point: vectors have it, and they have no division of
// integers but by constants.
bool divides_as_floats(const ScalarCall& c) {
  return storage_bytes(c.type) <= 4 && !llvm::isa<llvm::Constant>(c.in[1]) &&
         element_count(c.elements.module.shape(c.instruction).dims) > 1;
}

// The quotient toward zero by a divisor that is safe. (|a| + 1/2) / |d| lies at least 1/(2|d|) from
// every integer, further than the roundings of the reciprocal and the product move it where the
// significand is longer than the integers by some bits. A divisor that stays the same in a loop has
// its reciprocal taken once.
Value* integer_quotient(const ScalarCall& c, Value* divisor) {
  Builder& b = c.b;
  Value* dividend = c.in[0];
  if (!divides_as_floats(c))
    return is_signed(c.type) ? b.CreateSDiv(dividend, divisor) : b.CreateUDiv(dividend, divisor);
  llvm::Type* floats = storage_bytes(c.type) <= 2 ? b.getFloatTy() : b.getDoubleTy();
  const auto as_float = [&](Value* v) {
    return is_signed(c.type) ? b.CreateSIToFP(v, floats) : b.CreateUIToFP(v, floats);
  };
  Value *a = as_float(dividend), *half = llvm::ConstantFP::get(floats, 0.5);
  if (is_signed(c.type)) half = b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, half, a);
  Value* reciprocal = b.CreateFDiv(llvm::ConstantFP::get(floats, 1.0), as_float(divisor));
  Value* quotient = b.CreateFMul(b.CreateFAdd(a, half), reciprocal);
  return is_signed(c.type) ? b.CreateFPToSI(quotient, dividend->getType())
                           : b.CreateFPToUI(quotient, dividend->getType());
}

Value* integer_remainder(const ScalarCall& c, Value* divisor) {
  Builder& b = c.b;
  if (divides_as_floats(c))
    return b.CreateSub(c.in[0], b.CreateMul(integer_quotient(c, divisor), divisor));
  return is_signed(c.type) ? b.CreateSRem(c.in[0], divisor) : b.CreateURem(c.in[0], divisor);
}

// Whether a bf16 is divided by one that stays the same along the last dimension.
bool divides_row(const ScalarCall& c) {
  if (c.type != ElementType::BF16) return false;
  const Module& module = c.elements.module;
  const auto id = static_cast<uint32_t>(&c.instruction - module.instructions.data());
  const InstructionId divisor = module.operands({id})[1];
  if (module[divisor].op != Op::Broadcast) return false;
  const auto last = static_cast<int64_t>(module.shape(divisor).dims.size()) - 1;
  const Dims& dimensions = module.attributes<DimensionsAttributes>(divisor).dimensions;
  return std::ranges::find(dimensions, last) == dimensions.end();
}

// By the reciprocal, which is taken once in a row. No quotient of two significands of 8 bits is the
// middle of two such nor nearer to one than 2^-17 of it, which two roundings of f32 do not reach.
// Reciprocals of large numbers would be no normal ones and are taken four times as large. They are
// a little too large, so that no quotient that is the least normal number becomes zero.
Value* quotient_in_row(Builder& b, Value* x, Value* divisor) {
  const auto of = [&](double value) { return llvm::ConstantFP::get(x->getType(), value); };
  constexpr double more = 1 + 0x1p-20;
  Value* magnitude = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, divisor);
  Value* is_large = b.CreateFCmpOGT(magnitude, of(0x1p64));
  Value* inverse = b.CreateFDiv(b.CreateSelect(is_large, of(4 * more), of(more)), divisor);
  return b.CreateFMul(b.CreateFMul(x, inverse), b.CreateSelect(is_large, of(0.25), of(1)));
}

// The value's bits in its type, where its representation is wider.
Value* low_bits(const ScalarCall& c, Value* value) {
  const int unused = static_cast<int>(8 * storage_bytes(c.type)) - bits_of(c.type);
  if (unused == 0) return value;
  return c.b.CreateLShr(c.b.CreateShl(value, static_cast<uint64_t>(unused)),
                        static_cast<uint64_t>(unused));
}

// `shifted` where the shift is less than the width, else `beyond`.
Value* shift_within(const ScalarCall& c, llvm::Instruction::BinaryOps op, Value* value) {
  Value* by = low_bits(c, c.in[1]);
  Value* inside = c.b.CreateICmpULT(by, constant_of_type(by, bits_of(c.type)));
  Value* most = constant_of_type(by, 8 * storage_bytes(c.type) - 1);
  if (op == llvm::Instruction::AShr)
    return c.b.CreateAShr(value, c.b.CreateSelect(inside, by, most));
  Value* zero = constant_of_type(by, 0);
  Value* shifted = c.b.CreateBinOp(op, value, c.b.CreateSelect(inside, by, zero));
  return c.b.CreateSelect(inside, shifted, zero);
}

// By squares; most exponents have few bits.
Value* integer_power(const ScalarCall& c) {
  Builder& b = c.b;
  constexpr int unrolled_bits = 3;
  Value *base = c.in[0], *zero = constant_of_type(base, 0), *exponent = low_bits(c, c.in[1]);
  if (is_signed(c.type)) exponent = b.CreateSelect(b.CreateICmpSLT(c.in[1], zero), zero, exponent);
  Value *out = constant_of_type(base, 1), *factor = base, *unrolled = nullptr;
  for (int bit = 0; bit < bits_of(c.type); ++bit) {
    if (bit == unrolled_bits) unrolled = out;
    if (bit > 0) factor = b.CreateMul(factor, factor);
    Value* wanted =
        b.CreateTrunc(b.CreateLShr(exponent, static_cast<uint64_t>(bit)), b.getInt1Ty());
    out = b.CreateSelect(wanted, b.CreateMul(out, factor), out);
  }
  if (unrolled) {
    Value* most = constant_of_type(base, (int64_t{1} << unrolled_bits) - 1);
    out = unlikely_select(b, b.CreateICmpUGT(exponent, most), out, unrolled);
  }
  if (!is_signed(c.type)) return out;
  // A negative exponent: the inverse where it is an integer, else 0.
  Value *one = constant_of_type(base, 1), *minus_one = constant_of_type(base, -1);
  Value* odd = b.CreateTrunc(c.in[1], b.getInt1Ty());
  Value* inverse = b.CreateSelect(b.CreateICmpEQ(base, one), one, zero);
  inverse =
      b.CreateSelect(b.CreateICmpEQ(base, minus_one), b.CreateSelect(odd, minus_one, one), inverse);
  return b.CreateSelect(b.CreateICmpSLT(c.in[1], constant_of_type(base, 0)), inverse, out);
}

Value* remainder_of_floats(const ScalarCall& c) {
  if (Value* rest = math_remainder_by_power(c.b, c.in[0], c.in[1])) return rest;
  if (c.type == ElementType::F64 && real_parts::adds_products(c.b))
    return without_subnormal(c.b, math_remainder_of_f64(c.b, c.in[0], c.in[1]));
  if (c.type == ElementType::F64)
    return without_subnormal(
        c.b, c.b.CreateFRem(without_subnormal(c.b, c.in[0]), without_subnormal(c.b, c.in[1])));
  const auto wide = [&](Value* x) { return c.b.CreateFPExt(x, c.b.getDoubleTy()); };
  // bf16 and narrower ones have fewer bits than f16.
  const llvm::fltSemantics& held =
      c.type == ElementType::F32 ? llvm::APFloat::IEEEsingle() : llvm::APFloat::IEEEhalf();
  Value* rest = math_remainder(c.b, wide(c.in[0]), wide(c.in[1]),
                               static_cast<int>(llvm::APFloat::semanticsPrecision(held)));
  return c.b.CreateFPTrunc(rest, c.b.getFloatTy());
}

}  // namespace

Value* scalar_Add(const ScalarCall& c) {
  if (c.type == ElementType::Pred) return c.b.CreateOr(c.in[0], c.in[1]);
  if (is_complex(c.type)) return complex_sum(c);
  return is_real_float(c) ? c.b.CreateFAdd(c.in[0], c.in[1]) : c.b.CreateAdd(c.in[0], c.in[1]);
}
Value* scalar_Subtract(const ScalarCall& c) {
  if (is_complex(c.type)) return complex_difference(c);
  return is_real_float(c) ? c.b.CreateFSub(c.in[0], c.in[1]) : c.b.CreateSub(c.in[0], c.in[1]);
}
Value* scalar_Multiply(const ScalarCall& c) {
  if (c.type == ElementType::Pred) return c.b.CreateAnd(c.in[0], c.in[1]);
  if (is_complex(c.type)) return complex_product(c);
  return is_real_float(c) ? c.b.CreateFMul(c.in[0], c.in[1]) : c.b.CreateMul(c.in[0], c.in[1]);
}
Value* scalar_Divide(const ScalarCall& c) {
  if (is_complex(c.type)) return complex_quotient(c);
  if (is_real_float(c))
    return divides_row(c) ? quotient_in_row(c.b, c.in[0], c.in[1])
                          : c.b.CreateFDiv(c.in[0], c.in[1]);
  Value* zero = c.b.CreateICmpEQ(c.in[1], constant_of_type(c.in[1], 0));
  Value* ones = constant_of_type(c.in[1], -1);
  if (!is_signed(c.type))
    return c.b.CreateSelect(zero, ones, integer_quotient(c, safe_divisor(c, zero, nullptr)));
  Value* minus_one = c.b.CreateICmpEQ(c.in[1], ones);
  Value* quotient = integer_quotient(c, safe_divisor(c, zero, minus_one));
  quotient = c.b.CreateSelect(minus_one, c.b.CreateNeg(c.in[0]), quotient);
  return c.b.CreateSelect(zero, ones, quotient);
}
Value* scalar_Remainder(const ScalarCall& c) {
  if (is_real_float(c)) return remainder_of_floats(c);
  Value* zero = c.b.CreateICmpEQ(c.in[1], constant_of_type(c.in[1], 0));
  if (!is_signed(c.type))
    return c.b.CreateSelect(zero, c.in[0], integer_remainder(c, safe_divisor(c, zero, nullptr)));
  Value* minus_one = c.b.CreateICmpEQ(c.in[1], constant_of_type(c.in[1], -1));
  Value* rest = integer_remainder(c, safe_divisor(c, zero, minus_one));
  return c.b.CreateSelect(zero, c.in[0], rest);
}
Value* scalar_Maximum(const ScalarCall& c) { return maximum(c.b, c.type, c.in[0], c.in[1]); }
Value* scalar_Minimum(const ScalarCall& c) { return minimum(c.b, c.type, c.in[0], c.in[1]); }
Value* scalar_Clamp(const ScalarCall& c) {
  if (is_real_float(c))
    return minimum(c.b, c.type, maximum(c.b, c.type, c.in[0], c.in[1]), c.in[2]);
  return minimum(c.b, c.type, maximum(c.b, c.type, c.in[1], c.in[0]), c.in[2]);
}
Value* scalar_Negate(const ScalarCall& c) {
  if (is_complex(c.type)) return complex_negated(c);
  return is_real_float(c) ? c.b.CreateFNeg(c.in[0]) : c.b.CreateNeg(c.in[0]);
}
Value* scalar_Abs(const ScalarCall& c) {
  if (is_complex(c.type)) return complex_absolute(c);
  if (is_real_float(c)) return c.b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, c.in[0]);
  if (!is_signed(c.type)) return c.in[0];
  return c.b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, c.in[0], c.b.getFalse());
}
Value* scalar_Sign(const ScalarCall& c) {
  if (is_complex(c.type)) return complex_sign(c);
  Builder& b = c.b;
  Value* zero = llvm::Constant::getNullValue(c.in[0]->getType());
  if (is_real_float(c)) {
    Value *one = llvm::ConstantFP::get(zero->getType(), 1.0), *x = c.in[0];
    // Zero with the sign of x, or NaN; subnormal numbers are zeros.
    Value* neither = b.CreateFMul(x, zero);
    Value* below = b.CreateSelect(b.CreateFCmpOLT(x, zero), b.CreateFNeg(one), neither);
    return b.CreateSelect(b.CreateFCmpOGT(x, zero), one, below);
  }
  Value* below = is_signed(c.type) ? b.CreateICmpSLT(c.in[0], zero) : b.getFalse();
  Value* above = b.CreateICmpNE(c.in[0], zero);
  return b.CreateSelect(below, constant_of_type(zero, -1), b.CreateZExt(above, zero->getType()));
}
Value* scalar_And(const ScalarCall& c) { return c.b.CreateAnd(c.in[0], c.in[1]); }
Value* scalar_Or(const ScalarCall& c) { return c.b.CreateOr(c.in[0], c.in[1]); }
Value* scalar_Xor(const ScalarCall& c) { return c.b.CreateXor(c.in[0], c.in[1]); }
Value* scalar_Not(const ScalarCall& c) { return c.b.CreateNot(c.in[0]); }
Value* scalar_CountLeadingZeros(const ScalarCall& c) {
  Value* zeros =
      c.b.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, low_bits(c, c.in[0]), c.b.getFalse());
  return c.b.CreateSub(zeros, constant_of_type(zeros, 8 * storage_bytes(c.type) - bits_of(c.type)));
}
Value* scalar_PopulationCount(const ScalarCall& c) {
  return c.b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, low_bits(c, c.in[0]));
}
Value* scalar_ShiftLeft(const ScalarCall& c) {
  return shift_within(c, llvm::Instruction::Shl, c.in[0]);
}
Value* scalar_ShiftRightLogical(const ScalarCall& c) {
  return shift_within(c, llvm::Instruction::LShr, low_bits(c, c.in[0]));
}
// An unsigned type's top bit is a sign here.
Value* scalar_ShiftRightArithmetic(const ScalarCall& c) {
  const auto unused = static_cast<uint64_t>(8 * storage_bytes(c.type) - bits_of(c.type));
  Value* value = c.b.CreateAShr(c.b.CreateShl(c.in[0], unused), unused);
  return shift_within(c, llvm::Instruction::AShr, value);
}
Value* scalar_MultiplyHigh(const ScalarCall& c) {
  llvm::Type* wide = c.b.getIntNTy(2 * c.in[0]->getType()->getIntegerBitWidth());
  const auto widen = [&](Value* v) {
    return is_signed(c.type) ? c.b.CreateSExt(v, wide) : c.b.CreateZExt(v, wide);
  };
  Value* product = c.b.CreateMul(widen(c.in[0]), widen(c.in[1]));
  return c.b.CreateTrunc(c.b.CreateAShr(product, static_cast<uint64_t>(bits_of(c.type))),
                         c.in[0]->getType());
}
Value* scalar_Power(const ScalarCall& c) {
  if (is_complex(c.type)) return complex_power(c);
  return is_integral(c.type) ? integer_power(c) : real_power(c);
}
Value* scalar_Real(const ScalarCall& c) {
  return is_complex(c.type) ? parts_of(c.b, c.in[0]).real : c.in[0];
}
Value* scalar_Imag(const ScalarCall& c) {
  if (is_complex(c.type)) return parts_of(c.b, c.in[0]).imaginary;
  return llvm::Constant::getNullValue(c.in[0]->getType());
}
Value* scalar_Complex(const ScalarCall& c) { return joined(c.b, {c.in[0], c.in[1]}); }

}  // namespace hilo

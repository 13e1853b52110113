// Exponentials of f32 in f32 alone, twice as many side by side as in double: e^r - 1 and what is
// made of it are kept as the sum of two numbers, so that each result is rounded nearly once.
#include "emit/math.h"

namespace hilo {
namespace {

using llvm::Value;

// ln 2 in two parts, the first of so few bits that its products with exponents are exact.
constexpr float log2_e = 0x1.715476p+0F, ln_2_high = 0x1.62e4p-1F, ln_2_low = 0x1.7f7d1cp-20F;
// (e^r - 1 - r) / r^2
constexpr float rest_of_exponential[] = {0x1.000000p-1F, 0x1.555556p-3F,  0x1.5554e8p-5F,
                                         0x1.1110e0p-7F, 0x1.6d433ap-10F, 0x1.a12506p-13F};

Value* number(Builder& b, float value) { return llvm::ConstantFP::get(b.getFloatTy(), value); }

Value* multiply_add(Builder& b, Value* a, Value* c, Value* d) {
  return b.CreateIntrinsic(llvm::Intrinsic::fmuladd, {b.getFloatTy()}, {a, c, d});
}

Value* absolute(Builder& b, Value* x) { return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); }

Value* at_most(Builder& b, Value* x, float most) {  // NaN stays
  return b.CreateSelect(b.CreateFCmpOGT(x, number(b, most)), number(b, most), x);
}

// A number as a sum, the second part less than half a unit of the first one's last place.
struct Sum {
  Value *high, *low;
};

// a + c where |a| >= |c| (Dekker, "A floating-point technique for extending the available
// precision", Numerische Mathematik 18, 1971).
Sum sum_of(Builder& b, Value* a, Value* c) {
  Value* high = b.CreateFAdd(a, c);
  return {high, b.CreateFSub(c, b.CreateFSub(high, a))};
}

// e^x = 2^n (1 + p), |x| < 120; n as an i32 and p as a sum.
struct Exponential {
  Value* n;
  Sum p;
};

Exponential exponential(Builder& b, Value* x) {
  // Adding 1.5 * 2^23 leaves the integer in the low bits of the significand.
  Value* large = number(b, 0x1.8p23F);
  Value* shifted = b.CreateFAdd(b.CreateFMul(x, number(b, log2_e)), large);
  Value* n = b.CreateFSub(shifted, large);
  Value* r = multiply_add(b, n, number(b, -ln_2_high), x);
  r = multiply_add(b, n, number(b, -ln_2_low), r);
  const auto pair = [&](size_t i) {
    return multiply_add(b, r, number(b, rest_of_exponential[i + 1]),
                        number(b, rest_of_exponential[i]));
  };
  Value* square = b.CreateFMul(r, r);
  Value* rest = multiply_add(b, square, multiply_add(b, square, pair(4), pair(2)), pair(0));
  Value* bits = b.CreateBitCast(shifted, b.getInt32Ty());
  return {bits, sum_of(b, r, b.CreateFMul(square, rest))};
}

// 2^n, -127 < n < 128; the number may have other bits above its low nine.
Value* power_of_2(Builder& b, Value* n) {
  Value* one = b.CreateBitCast(number(b, 1), b.getInt32Ty());
  return b.CreateBitCast(b.CreateAdd(b.CreateShl(n, 23), one), b.getFloatTy());
}

Sum plus_one(Builder& b, Sum p) {
  const Sum out = sum_of(b, number(b, 1), p.high);
  return {out.high, b.CreateFAdd(out.low, p.low)};
}

Value* quotient(Builder& b, Sum above, Sum below) {
  Value* inverse = b.CreateFDiv(number(b, 1), below.high);
  Value* first = b.CreateFMul(above.high, inverse);
  Value* negative = b.CreateFNeg(first);
  Value* rest = b.CreateFAdd(multiply_add(b, negative, below.high, above.high),
                             multiply_add(b, negative, below.low, above.low));
  return multiply_add(b, rest, inverse, first);
}

Value* copy_sign(Builder& b, Value* magnitude, Value* sign) {
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, magnitude, sign);
}

}  // namespace

// 2^n may be no f32 where the product is, so that it comes in two factors.
Value* single_exp(Builder& b, Value* x) {
  x = at_most(b, x, 89);
  x = b.CreateSelect(b.CreateFCmpOLT(x, number(b, -104)), number(b, -104), x);
  const Exponential e = exponential(b, x);
  const Sum one = plus_one(b, e.p);
  // The sign of n stands in bit 21 of the sum with 1.5 * 2^23.
  Value* n = b.CreateAShr(b.CreateShl(e.n, 10), 10);
  Value* half = b.CreateAShr(n, 1);
  Value* out = b.CreateFMul(b.CreateFAdd(one.high, one.low), power_of_2(b, half));
  return b.CreateFMul(out, power_of_2(b, b.CreateSub(n, half)));
}

// m / (m + 2), m = e^2|x| - 1 = 2^n p + (2^n - 1); tanh is 1 in f32 from 9.02 on.
Value* single_tanh(Builder& b, Value* x) {
  Value* magnitude = at_most(b, absolute(b, x), 10);
  const Exponential e = exponential(b, b.CreateFAdd(magnitude, magnitude));
  Value* scale = power_of_2(b, e.n);
  Sum m = sum_of(b, b.CreateFSub(scale, number(b, 1)), b.CreateFMul(scale, e.p.high));
  m.low = multiply_add(b, scale, e.p.low, m.low);
  // Either of m and 2 may be the larger one (Knuth, "The Art of Computer Programming" 2, 4.2.2).
  Value* two = number(b, 2);
  Value* high = b.CreateFAdd(m.high, two);
  Value* back = b.CreateFSub(high, m.high);
  Value* low =
      b.CreateFAdd(b.CreateFSub(m.high, b.CreateFSub(high, back)), b.CreateFSub(two, back));
  return copy_sign(b, quotient(b, m, {high, b.CreateFAdd(low, m.low)}), x);
}

// 1 / (1 + e^-x); with e = e^-|x| that is 1 / (1 + e) or e / (1 + e).
Value* single_logistic(Builder& b, Value* x) {
  // From 87.34 on e is no normal f32, and zero.
  const Exponential parts = exponential(b, b.CreateFNeg(at_most(b, absolute(b, x), 87.5F)));
  const Sum one = plus_one(b, parts.p);
  Value* scale = power_of_2(b, parts.n);
  Sum below = sum_of(b, number(b, 1), b.CreateFMul(scale, one.high));
  below.low = multiply_add(b, scale, one.low, below.low);
  Value* negative = b.CreateFCmpOLT(x, number(b, 0));
  const Sum above = {b.CreateSelect(negative, one.high, number(b, 1)),
                     b.CreateSelect(negative, one.low, number(b, 0))};
  // Scaled last, for parts of small numbers would be no normal ones.
  return b.CreateFMul(quotient(b, above, below), b.CreateSelect(negative, scale, number(b, 1)));
}

}  // namespace hilo

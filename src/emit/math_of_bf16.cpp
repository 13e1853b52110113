// Exponentials of f32 that hold bf16, through powers of two: x = (n + f) ln 2, n whole, |f| <= 1/2.
// Their significands are so short that no sums of two numbers are needed.
#include "emit/math.h"

namespace hilo {
namespace {

using llvm::Value;
using namespace real_parts;

// In two parts: the products of the first with bf16 are exact.
constexpr double log2_e_high = 0x1.7154p+0, log2_e_low = 0x1.71547652b82fep+0 - log2_e_high;
constexpr uint64_t significand = 23;
constexpr double bias = 127;
// (2^f - 1) / f, and the same where results lie nearer to the middle of two bf16.
constexpr double power[] = {0x1.62e430p-1, 0x1.ebfa4cp-3, 0x1.c6afeep-5, 0x1.3cbf60p-7,
                            0x1.5ec868p-10};
constexpr double nearer_power[] = {0x1.62e430p-1, 0x1.ebfbe0p-3,  0x1.c6af6cp-5,
                                   0x1.3b2a54p-7, 0x1.5f0890p-10, 0x1.44138ap-13};

struct Power {
  Value *n, *f;  // n: in the low bits of an integer, with `more` added
};

Power power_of(Builder& b, Value* x, double factor, double more) {
  Value* large = number(x, format_of(x).large + more);
  Value* high = number(x, factor * log2_e_high);
  Value* shifted = multiply_add(b, x, high, large);
  Value* f = multiply_add(b, x, high, b.CreateFNeg(b.CreateFSub(shifted, large)));
  return {bits(b, shifted), multiply_add(b, x, number(x, factor * log2_e_low), f)};
}

// 2^n, of n with the bias of exponents added.
Value* scale_of(Builder& b, const Power& p) { return from_bits(b, b.CreateShl(p.n, significand)); }

}  // namespace

// Below `least`, from -87.34 on, the product with 2^n is no normal number. The sum with zero makes
// a zero of it, and tells that it is none such (emit/bf16_rounding.h).
Value* math_exp_of_bf16(Builder& b, Value* x) {
  constexpr double least = -88, most = 0x1.62e42ep6;
  Value* inside = b.CreateSelect(b.CreateFCmpOLT(x, number(x, least)), number(x, least), x);
  const Power p = power_of(b, inside, 1, 0);
  Value* factor = multiply_add(b, p.f, polynomial(b, p.f, nearer_power), number(x, 1));
  Value* out = from_bits(b, b.CreateAdd(bits(b, factor), b.CreateShl(p.n, significand)));
  out = b.CreateFAdd(out, number(x, 0));
  // Infinity, or the NaN that x is.
  Value* beyond = b.CreateFMul(x, number(x, infinity));
  return b.CreateSelect(b.CreateFCmpOLE(x, number(x, most)), out, beyond);
}

// 2 (2^(n-1) p + (2^(n-1) - 1/2)), for 2^n may be no number where the result is one. From -23 on it
// is -1, and from 89 on infinite.
Value* math_expm1_of_bf16(Builder& b, Value* x) {
  const Power p = power_of(b, clamp(b, x, -23, 89), 1, bias - 1);
  Value* scale = scale_of(b, p);
  Value* half = multiply_add(b, scale, b.CreateFMul(p.f, polynomial(b, p.f, power)),
                             b.CreateFSub(scale, number(x, 0.5)));
  // x itself, from whose half a product would be no normal number; subnormal ones become zeros.
  Value* same = multiply_add(b, x, number(x, 0x1p-70), x);
  Value* is_same = b.CreateFCmpOLT(absolute(b, x), number(x, 0x1p-10));
  return b.CreateSelect(is_same, same, b.CreateFMul(half, number(x, 2)));
}

// m / (m + 2), m = e^2x - 1 = 2^n p + (2^n - 1).
Value* math_tanh_of_bf16(Builder& b, Value* x) {
  const Power p = power_of(b, clamp(b, x, -10, 10), 2, bias);
  Value* scale = scale_of(b, p);
  Value* m = multiply_add(b, scale, b.CreateFMul(p.f, polynomial(b, p.f, power)),
                          b.CreateFSub(scale, number(x, 1)));
  return copy_sign(b, b.CreateFDiv(m, b.CreateFAdd(m, number(x, 2))), x);
}

// Beyond the bounds the result is 1 or, subnormal, zero.
Value* math_logistic_of_bf16(Builder& b, Value* x) {
  Value* one = number(x, 1);
  const Power p = power_of(b, clamp(b, x, -88, 87.5), -1, bias);
  Value* factor = multiply_add(b, p.f, polynomial(b, p.f, power), one);
  return b.CreateFDiv(one, multiply_add(b, factor, scale_of(b, p), one));
}

}  // namespace hilo

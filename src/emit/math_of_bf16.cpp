// Exponentials of f32 that hold bf16, through powers of two: x = (n + f) ln 2, n whole, |f| <= 1/2.
// Their significands are so short that no sums of two numbers are needed.
#include "emit/math.h"

namespace hilo {
namespace {

using llvm::Value;
using namespace real_parts;

using F32Bits = FloatBits<float>;

constexpr double log2_e_of_expm1 = 0x1.715478p+0;
// (2^f - 1) / f. Where results lie near to the middle of two bf16, the coefficients are moved at
// random until all round to the nearest one, with fused multiplications and without.
constexpr double power_of_exp[] = {0x1.62e1fap-1, 0x1.ec0728p-3, 0x1.c940cep-5, 0x1.37bb76p-7};
constexpr double power_of_logistic[] = {0x1.62e2d2p-1, 0x1.ec05dep-3, 0x1.c8f6b4p-5, 0x1.3973dap-7};
constexpr double power_of_tanh[] = {0x1.62e430p-1, 0x1.ebfa4cp-3, 0x1.c6afeep-5, 0x1.3cbf60p-7,
                                    0x1.5ec868p-10};
constexpr double power_of_expm1[] = {0x1.62e480p-1, 0x1.ebe5b8p-3, 0x1.c5d6fep-5, 0x1.3df716p-7,
                                     0x1.6ca5ecp-10};

struct Power {
  Value *n, *f;  // n: in the low bits of an integer, with `more` added
};

// Of x * factor.
Power power_of(Builder& b, Value* x, double factor, double more) {
  Value* large = number(x, format_of(x).large + more);
  Value* scale = number(x, factor);
  Value* shifted = multiply_add(b, x, scale, large);
  return {bits(b, shifted), multiply_add(b, x, scale, b.CreateFNeg(b.CreateFSub(shifted, large)))};
}

// In turn, with the fewest steps: there are many elements to fill the waiting with.
Value* in_turn(Builder& b, Value* x, std::span<const double> coefficients) {
  Value* sum = number(x, coefficients.back());
  for (size_t i = coefficients.size() - 1; i-- > 0;)
    sum = multiply_add(b, sum, x, number(x, coefficients[i]));
  return sum;
}

// 2^n, of n with the bias of exponents added.
Value* scale_of(Builder& b, const Power& p) {
  return from_bits(b, b.CreateShl(p.n, F32Bits::significand));
}

}  // namespace

// Below `least`, from -87.34 on, the product with 2^n is no normal number. The sum with zero makes
// a zero of it, and tells that it is none such and, where it is chosen, no NaN
// (emit/bf16_rounding.h).
Value* math_exp_of_bf16(Builder& b, Value* x) {
  constexpr double least = -88, most = 0x1.62e42ep6;
  const Power p = power_of(b, at_least(b, x, least), std::numbers::log2e, 0);
  Value* factor = multiply_add(b, p.f, in_turn(b, p.f, power_of_exp), number(x, 1));
  Value* out = from_bits(b, b.CreateAdd(bits(b, factor), b.CreateShl(p.n, F32Bits::significand)));
  llvm::FastMathFlags no_nan;
  no_nan.setNoNaNs();
  out = b.CreateFAddFMF(out, number(x, 0), no_nan);
  // Infinity, or the NaN that x is.
  Value* beyond = b.CreateFMul(x, number(x, infinity));
  return b.CreateSelect(b.CreateFCmpOLE(x, number(x, most)), out, beyond);
}

// 2 (2^(n-1) p + (2^(n-1) - 1/2)), for 2^n may be no number where the result is one. From -23 on it
// is -1, and from 89 on infinite.
Value* math_expm1_of_bf16(Builder& b, Value* x) {
  const Power p = power_of(b, clamp(b, x, -23, 89), log2_e_of_expm1, F32Bits::bias - 1);
  Value* scale = scale_of(b, p);
  Value* half = multiply_add(b, scale, b.CreateFMul(p.f, in_turn(b, p.f, power_of_expm1)),
                             b.CreateFSub(scale, number(x, 0.5)));
  // x itself, from whose half a product would be no normal number; subnormal ones become zeros.
  Value* same = multiply_add(b, x, number(x, 0x1p-70), x);
  Value* is_same = b.CreateFCmpOLT(absolute(b, x), number(x, 0x1p-10));
  return b.CreateSelect(is_same, same, b.CreateFMul(half, number(x, 2)));
}

// m / (m + 2), m = e^2x - 1 = 2^n p + (2^n - 1).
Value* math_tanh_of_bf16(Builder& b, Value* x) {
  const Power p = power_of(b, clamp(b, x, -10, 10), 2 * std::numbers::log2e, F32Bits::bias);
  Value* scale = scale_of(b, p);
  Value* m = multiply_add(b, scale, b.CreateFMul(p.f, in_turn(b, p.f, power_of_tanh)),
                          b.CreateFSub(scale, number(x, 1)));
  Value* out = b.CreateFDiv(m, b.CreateFAdd(m, number(x, 2)));
  return copy_sign(b, round_limited_to_bf16(b, out), x);
}

// Beyond the bounds the result is 1 or, subnormal, zero.
Value* math_logistic_of_bf16(Builder& b, Value* x) {
  Value* one = number(x, 1);
  const Power p = power_of(b, clamp(b, x, -88, 87.5), -std::numbers::log2e, F32Bits::bias);
  Value* factor = multiply_add(b, p.f, in_turn(b, p.f, power_of_logistic), one);
  return round_limited_to_bf16(b, b.CreateFDiv(one, multiply_add(b, factor, scale_of(b, p), one)));
}

}  // namespace hilo

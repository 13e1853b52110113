// Exponentials of f32 that hold f16, as those of bf16 (emit/math_of_bf16.cpp), through powers of
// two: x = (n + f) ln 2, n whole, |f| <= 1/2. log2 e comes in two parts, the first of so few bits
// that its products with f16 are exact. The result is to be rounded to f16, in whose last place
// what two more roundings of f32 change is seldom seen: coefficients were moved at random until it
// is not.
#include "emit/math.h"

namespace hilo {
namespace {

using llvm::Value;
using namespace real_parts;

using F32Bits = FloatBits<float>;

constexpr double log2_e_high = 0x1.715p+0, log2_e_low = std::numbers::log2e - log2_e_high;
// (2^f - 1) / f
constexpr double power_of_exp[] = {0x1.62e430p-1, 0x1.ebfa4ep-3, 0x1.c6b006p-5, 0x1.3cbfaep-7,
                                   0x1.5ec6b8p-10};
constexpr double power_of_tanh[] = {0x1.62e42cp-1, 0x1.ebfaaep-3, 0x1.c6b1fcp-5, 0x1.3cc304p-7,
                                    0x1.5df7d2p-10};

// Of e^(factor x), the factor a small power of two: 2^n, f and (2^f - 1) / f.
struct Power {
  Value *scale, *f, *rest;
};
Power power_of(Builder& b, Value* x, double factor, std::span<const double> coefficients) {
  Value* large = number(x, format_of(x).large + F32Bits::bias);
  Value* shifted = multiply_add(b, x, number(x, factor * std::numbers::log2e), large);
  Value* n = b.CreateFSub(shifted, large);
  Value* f = multiply_add(b, x, number(x, factor * log2_e_high), b.CreateFNeg(n));
  f = multiply_add(b, x, number(x, factor * log2_e_low), f);
  return {from_bits(b, b.CreateShl(bits(b, shifted), F32Bits::significand)), f,
          horner(b, f, coefficients)};
}

// 2^n (2^f - 1) + more
Value* grown(Builder& b, const Power& p, Value* more) {
  return multiply_add(b, b.CreateFMul(p.scale, p.f), p.rest, more);
}

}  // namespace

// Beyond the bounds f16 has zero or infinity.
Value* math_exp_of_f16(Builder& b, Value* x) {
  const Power p = power_of(b, clamp(b, x, -20, 12), 1, power_of_exp);
  return grown(b, p, p.scale);
}

// m / (m + 2), m = e^2x - 1; 1 from 4.6 on.
Value* math_tanh_of_f16(Builder& b, Value* x) {
  const Power p = power_of(b, clamp(b, x, -4.75, 4.75), 2, power_of_tanh);
  Value* m = grown(b, p, b.CreateFSub(p.scale, number(x, 1)));
  return copy_sign(b, b.CreateFDiv(m, b.CreateFAdd(m, number(x, 2))), x);
}

}  // namespace hilo

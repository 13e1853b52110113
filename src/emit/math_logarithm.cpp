// ln x = k ln 2 + ln m, x = 2^k m, 3/4 <= m < 3/2, of f32 and f64 in their own precision; and what
// is made of logarithms.
#include "emit/math.h"

namespace hilo {
namespace {

using llvm::Value;
using namespace real_parts;

// (ln(1 + f) - f + f^2 / 2) / f^3
constexpr double rest_of_f32[] = {0x1.555556p-2,  -0x1.000040p-2, 0x1.99997ep-3,
                                  -0x1.552aaep-3, 0x1.24474cp-3,  -0x1.03b036p-3,
                                  0x1.dec4f6p-4,  -0x1.7e21f2p-4, 0x1.487328p-5};
constexpr double rest_of_f64[] = {
    0x1.5555555555555p-2, -0x1.0000000000016p-2, 0x1.999999999a29ep-3, -0x1.55555555509cbp-3,
    0x1.24924923f512fp-3, -0x1.00000001ca959p-3, 0x1.c71c724bd4133p-4, -0x1.9999998fe3e8ap-4,
    0x1.745cfc1b8712cp-4, -0x1.555522f4758e4p-4, 0x1.3b1681cc901ebp-4, -0x1.249c6018549dep-4,
    0x1.10f110ce22715p-4, -0x1.fe5bbd4a9cddbp-5, 0x1.e1781da405731p-5, -0x1.d523b5399a509p-5,
    0x1.ced98fe53caa2p-5, -0x1.8f0224773aa22p-5, 0x1.d867cdfc2eeebp-6, -0x1.0a1e829b08812p-7};

std::span<const double> rest_for(Value* x) {
  return x->getType()->isFloatTy() ? std::span<const double>(rest_of_f32) : rest_of_f64;
}

struct Parts {
  Value *k, *f;     // f = m - 1
  Value* exponent;  // k, shifted to where a number has its exponent
};

Parts split(Builder& b, Value* x) {
  const Format& format = format_of(x);
  Value* k = b.CreateAShr(b.CreateSub(bits(b, x), bits(b, number(x, 0.75))), format.significand);
  Value* exponent = b.CreateShl(k, format.significand);
  Value* m = from_bits(b, b.CreateSub(bits(b, x), exponent));
  // k as a number: its bits below those of `large`.
  Value* large = number(x, format.large);
  Value* real_k = b.CreateFSub(from_bits(b, b.CreateAdd(k, bits(b, large))), large);
  return {real_k, b.CreateFSub(m, number(x, 1)), exponent};
}

// k ln 2 + ln(1 + f). The sum of the largest parts is kept as two numbers.
Value* joined(Builder& b, Value* k, Value* f) {
  const Format& format = format_of(f);
  Value* rest = multiply_add(b, f, polynomial(b, f, rest_for(f)), number(f, -0.5));
  rest = multiply_add(b, b.CreateFMul(f, f), rest, b.CreateFMul(k, number(f, format.ln_2_low)));
  Value* first = b.CreateFMul(k, number(f, format.ln_2_high));
  Value* sum = b.CreateFAdd(first, f);
  Value* lost = b.CreateFSub(f, b.CreateFSub(sum, first));
  return b.CreateFAdd(sum, b.CreateFAdd(lost, rest));
}

// `inside` where x is positive and finite; else the logarithm of 0, infinity, a negative or NaN.
Value* with_edges(Builder& b, Value* x, Value* inside) {
  inside = b.CreateSelect(b.CreateFCmpOEQ(x, number(x, infinity)), x, inside);
  Value* zero = b.CreateFCmpOEQ(x, number(x, 0));
  Value* outside = b.CreateSelect(zero, number(x, -infinity), number(x, nan));
  return b.CreateSelect(b.CreateFCmpOGT(x, number(x, 0)), inside, outside);
}

}  // namespace

Value* real_parts::log_of_positive(Builder& b, Value* x) {
  const Parts parts = split(b, absolute(b, x));
  return joined(b, parts.k, parts.f);
}

Value* math_log(Builder& b, Value* x) { return with_edges(b, x, log_of_positive(b, x)); }

// ln sum + lost / sum, whose second part goes into f.
Value* math_log_of_sum(Builder& b, Value* sum, Value* lost) {
  const Parts parts = split(b, sum);
  // Times 2^(1-k), which unlike 2^-k is a number for every k.
  Value* power = from_bits(b, b.CreateSub(bits(b, number(sum, 2)), parts.exponent));
  Value* f = multiply_add(b, b.CreateFMul(lost, power), number(sum, 0.5), parts.f);
  return with_edges(b, sum, joined(b, parts.k, f));
}

Value* math_log1p(Builder& b, Value* x) {
  Value* one = number(x, 1);
  Value* sum = b.CreateFAdd(x, one);
  Value* lost = b.CreateFSub(x, b.CreateFSub(sum, one));
  return copy_sign(b, math_log_of_sum(b, sum, lost), x);
}

Value* math_cbrt(Builder& b, Value* x) {
  Value* third = b.CreateFMul(log_of_positive(b, x), number(b, 1.0 / 3));
  Value* root = copy_sign(b, math_exp(b, third), x);
  Value* magnitude = absolute(b, x);
  Value* inside = b.CreateAnd(b.CreateFCmpOGT(magnitude, number(b, 0)),
                              b.CreateFCmpOLT(magnitude, number(b, infinity)));
  // What subnormal numbers are taken for has no bits of theirs.
  return b.CreateSelect(inside, root, twice(b, x));
}

}  // namespace hilo

// ln x = k ln 2 + ln m, x = 2^k m, sqrt(1/2) <= m < sqrt 2; and what is made of logarithms.
#include <limits>

#include "emit/math.h"

namespace hilo {
namespace {

using llvm::Value;
using namespace real_parts;

constexpr double ln_2 = 0x1.62e42fefa39efp-1;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t bits_of_sqrt_half = 0x3fe6a09e667f3bcd;
// ln(1 + f) / f
constexpr double logarithm[] = {
    0x1.0000000000116p+0, -0x1.0000000002a36p-1, 0x1.555555543d356p-2, -0x1.ffffffef14bb8p-3,
    0x1.99999b01e33e8p-3, -0x1.55555d98cd256p-3, 0x1.2491f53affa56p-3, -0x1.fffc5cafe8aeap-4,
    0x1.c72dc20699434p-4, -0x1.9a02c61575101p-4, 0x1.739f1281db088p-4, -0x1.4f1b644a3dd80p-4,
    0x1.3b5f35b6e764fp-4, -0x1.51b772c103f55p-4, 0x1.446e960ff60bfp-4, -0x1.3e6fdea080958p-5};

struct Parts {
  Value *k, *f;  // f = m - 1
};

Parts split(Builder& b, Value* x) {
  Value* all = bits(b, x);
  Value* k = b.CreateAShr(b.CreateSub(all, b.getInt64(bits_of_sqrt_half)), 52);
  Value* m = from_bits(b, b.CreateSub(all, b.CreateShl(k, 52)));
  // k as a double: its bits below 1.5 * 2^52.
  Value* large = number(b, 0x1.8p52);
  Value* real_k = b.CreateFSub(from_bits(b, b.CreateAdd(k, bits(b, large))), large);
  return {real_k, b.CreateFSub(m, number(b, 1))};
}

Value* joined(Builder& b, Value* k, Value* f) {
  return multiply_add(b, k, number(b, ln_2), b.CreateFMul(f, polynomial(b, f, logarithm)));
}

// `inside` where x is positive and finite; else the logarithm of 0, infinity, a negative or NaN.
Value* with_edges(Builder& b, Value* x, Value* inside) {
  inside = b.CreateSelect(b.CreateFCmpOEQ(x, number(b, infinity)), x, inside);
  Value* zero = b.CreateFCmpOEQ(x, number(b, 0));
  Value* outside = b.CreateSelect(zero, number(b, -infinity), number(b, nan));
  return b.CreateSelect(b.CreateFCmpOGT(x, number(b, 0)), inside, outside);
}

Value* is_whole(Builder& b, Value* x) {
  return b.CreateFCmpOEQ(b.CreateUnaryIntrinsic(llvm::Intrinsic::floor, x), x);
}

}  // namespace

Value* real_parts::log_of_positive(Builder& b, Value* x) {
  const Parts parts = split(b, absolute(b, x));
  return joined(b, parts.k, parts.f);
}

Value* math_log(Builder& b, Value* x) { return with_edges(b, x, log_of_positive(b, x)); }

// Where 1 + x needs no scaling, f is x itself and loses nothing.
Value* math_log1p(Builder& b, Value* x) {
  Value* y = b.CreateFAdd(x, number(b, 1));
  const Parts parts = split(b, y);
  Value* unscaled = b.CreateFCmpOEQ(parts.k, number(b, 0));
  Value* inside = joined(b, parts.k, b.CreateSelect(unscaled, x, parts.f));
  return copy_sign(b, with_edges(b, y, inside), x);
}

Value* math_cbrt(Builder& b, Value* x) {
  Value* third = b.CreateFMul(log_of_positive(b, x), number(b, 1.0 / 3));
  Value* root = copy_sign(b, math_exp(b, third), x);
  Value* magnitude = absolute(b, x);
  Value* inside = b.CreateAnd(b.CreateFCmpOGT(magnitude, number(b, 0)),
                              b.CreateFCmpOLT(magnitude, number(b, infinity)));
  return b.CreateSelect(inside, root, x);
}

// The cases of IEEE 754 section 9.2.1: what is to the 0 and 1 to what is are 1, NaN included; a
// negative number has powers with whole exponents alone, negative ones with odd exponents.
Value* math_pow(Builder& b, Value* x, Value* y) {
  Value *zero = number(b, 0), *one = number(b, 1), *end = number(b, infinity);
  Value* magnitude = absolute(b, x);
  Value* exponent = b.CreateFMul(y, with_edges(b, magnitude, log_of_positive(b, x)));
  Value* power = math_exp(b, exponent);
  Value* half = b.CreateFMul(y, number(b, 0.5));
  Value* odd = b.CreateAnd(is_whole(b, y), b.CreateNot(is_whole(b, half)));
  Value* signed_power = b.CreateSelect(odd, copy_sign(b, power, x), power);
  Value* undefined = b.CreateAnd(b.CreateAnd(b.CreateFCmpOLT(x, zero), b.CreateNot(is_whole(b, y))),
                                 b.CreateFCmpOLT(magnitude, end));
  Value* result = b.CreateSelect(undefined, number(b, nan), signed_power);
  Value* turns = b.CreateAnd(b.CreateFCmpOEQ(magnitude, one), b.CreateFCmpOEQ(absolute(b, y), end));
  Value* is_one = b.CreateOr(b.CreateOr(b.CreateFCmpOEQ(x, one), b.CreateFCmpOEQ(y, zero)), turns);
  return b.CreateSelect(is_one, one, result);
}

}  // namespace hilo

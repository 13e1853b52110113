#include "emit/math.h"
#include "emit/select_to_branch.h"

namespace hilo {

using namespace real_parts;
using llvm::Value;

namespace {

// With e = 1 - x * y^2: 1 / sqrt(x) = y * (1 - e)^(-1/2) = y * (1 + e/2 + 3 e^2/8 + ...). A rest of
// e of 2^-n becomes one of 2^-(3 n - 1.6).
Value* nearer(Builder& b, Value* y, Value* e) {
  Value* series = multiply_add(b, e, number(y, 0.375), number(y, 0.5));
  return multiply_add(b, b.CreateFMul(y, e), series, y);
}

}  // namespace

// The first estimate halves the exponent: within 2^-4.8 (C. Lomont, "Fast inverse square root",
// 2003). Zeros, infinities, negative numbers and NaN are left to the divider.
Value* math_rsqrt(Builder& b, Value* x) {
  Value* from = bits(b, x);
  Value* y = from_bits(b, b.CreateSub(b.getInt32(0x5f375a86), b.CreateLShr(from, 1)));
  y = nearer(b, y, multiply_add(b, b.CreateFNeg(b.CreateFMul(x, y)), y, number(x, 1)));
  Value* product = b.CreateFMul(x, y);
  Value* lost = multiply_add(b, x, y, b.CreateFNeg(product));  // x * y = product + lost
  Value* rest = multiply_add(b, b.CreateFNeg(product), y, number(x, 1));
  y = nearer(b, y, multiply_add(b, b.CreateFNeg(lost), y, rest));
  using F32Bits = FloatBits<float>;
  Value* is_special = b.CreateICmpUGE(b.CreateSub(from, b.getInt32(F32Bits::min_normal)),
                                      b.getInt32(F32Bits::infinity - F32Bits::min_normal));
  Value* root = b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x);
  return unlikely_select(b, is_special, b.CreateFDiv(number(x, 1), root), y);
}

}  // namespace hilo

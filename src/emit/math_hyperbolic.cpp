// Inverse sines and cosines, and hyperbolic functions and their inverses, in double.
#include "emit/math.h"

namespace hilo {
namespace {

using llvm::Value;
using namespace real_parts;

// Beyond it what becomes of e^x is infinite in f32.
constexpr double end_of_exponents = 100;

Value* root(Builder& b, Value* x) { return b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x); }

// The other side of a triangle of which 1 and x are sides: sqrt((1 - x) (1 + x)).
Value* beside(Builder& b, Value* x) {
  Value* one = number(b, 1);
  return root(b, b.CreateFMul(b.CreateFSub(one, x), b.CreateFAdd(one, x)));
}

// m = e^|x| - 1 and m / (m + 1) = 1 - e^-|x|.
struct Grown {
  Value *more, *less;
};
Grown grown(Builder& b, Value* x) {
  Value* m = math_expm1(b, at_most(b, absolute(b, x), end_of_exponents));
  return {m, b.CreateFDiv(m, b.CreateFAdd(m, number(b, 1)))};
}

}  // namespace

Value* math_asin(Builder& b, Value* x) { return math_atan2(b, x, beside(b, x)); }
Value* math_acos(Builder& b, Value* x) { return math_atan2(b, beside(b, x), x); }

Value* math_sinh(Builder& b, Value* x) {
  const Grown e = grown(b, x);
  return copy_sign(b, half_of(b, b.CreateFAdd(e.more, e.less)), x);
}

Value* math_cosh(Builder& b, Value* x) {
  const Grown e = grown(b, x);
  return multiply_add(b, b.CreateFSub(e.more, e.less), number(b, 0.5), number(b, 1));
}

// ln(1 + (|x| + x^2 / (1 + sqrt(1 + x^2))))
Value* math_asinh(Builder& b, Value* x) {
  Value *magnitude = absolute(b, x), *one = number(b, 1);
  Value* square = b.CreateFMul(x, x);
  Value* below = b.CreateFAdd(one, root(b, b.CreateFAdd(square, one)));
  Value* out = math_log1p(b, b.CreateFAdd(magnitude, b.CreateFDiv(square, below)));
  Value* is_infinite = b.CreateFCmpOEQ(magnitude, number(b, infinity));
  return copy_sign(b, b.CreateSelect(is_infinite, magnitude, out), x);
}

// ln(1 + (t + sqrt(t (t + 2)))), t = x - 1
Value* math_acosh(Builder& b, Value* x) {
  Value* t = b.CreateFSub(x, number(b, 1));
  Value* other = root(b, b.CreateFMul(t, b.CreateFAdd(t, number(b, 2))));
  Value* out = math_log1p(b, b.CreateFAdd(t, other));
  return b.CreateSelect(b.CreateFCmpOLT(x, number(b, 1)), number(b, nan), out);
}

// ln(1 + 2x / (1 - x)) / 2
Value* math_atanh(Builder& b, Value* x) {
  Value* quotient = b.CreateFDiv(twice(b, x), b.CreateFSub(number(b, 1), x));
  return half_of(b, math_log1p(b, quotient));
}

}  // namespace hilo

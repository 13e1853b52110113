// exp x = 2^n e^r, n the integer nearest to x / ln 2, |r| <= ln 2 / 2.
#include "emit/math.h"

namespace hilo {
namespace {

using llvm::Value;
using namespace real_parts;

constexpr double log2_e = 0x1.71547652b82fep+0, ln_2 = 0x1.62e42fefa39efp-1;
// (e^r - 1) / r
constexpr double exponential[] = {0x1.0000000000000p+0, 0x1.000000287979cp-1, 0x1.55555567507aap-3,
                                  0x1.5554ace0a712fp-5, 0x1.1110c63a18e49p-7, 0x1.6d7532698042bp-10,
                                  0x1.a1516a510ea28p-13};

struct Parts {
  Value *scale, *rest;  // 2^n and e^r - 1
};

// |x| < 700.
Parts split(Builder& b, Value* x) {
  const Nearest n = nearest(b, b.CreateFMul(x, number(b, log2_e)));
  Value* r = multiply_add(b, n.real, number(b, -ln_2), x);
  Value* exponent = b.CreateShl(n.integer, 52);
  Value* scale = from_bits(b, b.CreateAdd(exponent, bits(b, number(b, 1))));
  return {scale, b.CreateFMul(r, polynomial(b, r, exponential))};
}

// e^x - 1, of small x with the relative error of the polynomial.
Value* minus_one(Builder& b, Value* x) {
  const Parts parts = split(b, x);
  return multiply_add(b, parts.scale, parts.rest, b.CreateFSub(parts.scale, number(b, 1)));
}

}  // namespace

Value* math_exp(Builder& b, Value* x) {
  // f32 begins at e^-104 and ends at e^89.
  const Parts parts = split(b, clamp(b, x, -110, 90));
  return multiply_add(b, parts.scale, parts.rest, parts.scale);
}

Value* math_expm1(Builder& b, Value* x) {
  return copy_sign(b, minus_one(b, clamp(b, x, -110, 90)), x);
}

// tanh x = (e^2x - 1) / (e^2x + 1), which is 1 in f32 from 10 on.
Value* math_tanh(Builder& b, Value* x) {
  Value* m = minus_one(b, clamp(b, b.CreateFMul(x, number(b, 2)), -40, 40));
  Value* quotient = b.CreateFMul(m, reciprocal(b, b.CreateFAdd(m, number(b, 2))));
  return copy_sign(b, quotient, x);
}

// 1 / (1 + e^-x); with e = e^-|x| that is 1 / (1 + e) or e / (1 + e).
Value* math_logistic(Builder& b, Value* x) {
  Value* e = math_exp(b, b.CreateFNeg(absolute(b, x)));
  Value* above = b.CreateSelect(b.CreateFCmpOLT(x, number(b, 0)), e, number(b, 1));
  return b.CreateFMul(above, reciprocal(b, b.CreateFAdd(e, number(b, 1))));
}

}  // namespace hilo

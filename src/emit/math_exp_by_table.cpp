// e^x of f32 = 2^n (1 + p), n the multiple of 1/16 nearest to x / ln 2, p = e^r - 1, |r| <= ln 2
// / 32. The powers of sixteenths come from a table that vectors look up in one step, and what they
// lack from another one.
#include "emit/math.h"

namespace hilo {
namespace {

using llvm::Value;
using namespace real_parts;

// Beyond these the result is zero or infinity.
constexpr double least = -104, most = 89;
// (e^r - 1 - r) / r^2
constexpr double rest_of_power[] = {0x1.000148p-1, 0x1.55565cp-3};
constexpr Row powers = {{0x1p+0F, 0x1.0b5586p+0F, 0x1.172b84p+0F, 0x1.2387a6p+0F, 0x1.306fep+0F,
                         0x1.3dea64p+0F, 0x1.4bfdaep+0F, 0x1.5ab07ep+0F, 0x1.6a09e6p+0F,
                         0x1.7a1148p+0F, 0x1.8ace54p+0F, 0x1.9c4918p+0F, 0x1.ae89fap+0F,
                         0x1.c199bep+0F, 0x1.d5818ep+0F, 0x1.ea4afap+0F}};
// Of each power, by which part of it its f32 is too small.
constexpr Row lacking = {{0, 0x1.8d96d4p-25F, -0x1.9c0c22p-27F, 0x1.964904p-25F, 0x1.125002p-25F,
                          0x1.370be4p-25F, -0x1.0a355p-25F, -0x1.00d8acp-27F, 0x1.26055cp-26F,
                          -0x1.05cb44p-25F, 0x1.67a1cap-28F, 0x1.a3b5e4p-28F, -0x1.f9c304p-27F,
                          -0x1.6961b4p-28F, -0x1.a5217cp-28F, 0x1.61428ep-28F}};

struct Power {
  Value *n, *sixteenths;  // the latter in the low bits of an integer
  Value *power, *p;       // of the sixteenths beyond a whole number, and e^r - 1 with what it lacks
};
Power power_of(Builder& b, Value* x) {
  const Format& format = format_of(x);
  // A number added to `large` is a whole number of sixteenths.
  Value* large = number(x, format.large / static_cast<double>(powers.size()));
  Value* shifted = multiply_add(b, x, number(x, std::numbers::log2e), large);
  Value* n = b.CreateFSub(shifted, large);
  Value* r = multiply_add(b, n, number(x, -format.ln_2_high), x);
  r = multiply_add(b, n, number(x, -format.ln_2_low), r);
  Value* sixteenths = bits(b, shifted);
  Value* p = b.CreateFAdd(r, looked_up(b, "lacking_of_sixteenths", lacking, sixteenths));
  p = multiply_add(b, b.CreateFMul(r, r), polynomial(b, r, rest_of_power), p);
  return {n, sixteenths, looked_up(b, "powers_of_sixteenths", powers, sixteenths), p};
}

}  // namespace

Value* math_exp_by_table(Builder& b, Value* x) {
  const Power e = power_of(b, at_most(b, x, most));
  // A NaN, which has no n, stays one, and so does what n is below `least`.
  Value* whole = b.CreateUnaryIntrinsic(llvm::Intrinsic::floor, e.n);
  whole = b.CreateFreeze(b.CreateFPToSI(whole, b.getInt32Ty()));
  Value* out = b.CreateIntrinsic(llvm::Intrinsic::ldexp, {x->getType(), whole->getType()},
                                 {multiply_add(b, e.power, e.p, e.power), whole});
  return b.CreateSelect(b.CreateFCmpUGE(x, number(x, least)), out, number(x, 0));
}

// As math_logistic(), of which y p is an f32 and a rest. A power of 2^-127 is zero.
Value* math_logistic_by_table(Builder& b, Value* x) {
  constexpr double end = 88;
  const Power e = power_of(b, clamp(b, b.CreateFNeg(x), -end, end));
  using F32Bits = FloatBits<float>;
  constexpr int below_whole = F32Bits::significand - std::countr_zero(powers.size());
  Value* whole =
      b.CreateAnd(b.CreateShl(e.sixteenths, below_whole), F32Bits::sign | F32Bits::infinity);
  Value* power = from_bits(b, b.CreateAdd(bits(b, e.power), whole));
  Value *high = multiply_add(b, power, e.p, power), *one = number(x, 1);
  Value* low = multiply_add(b, power, e.p, b.CreateFSub(power, high));
  Value* inverse = b.CreateFDiv(one, b.CreateFAdd(one, high));
  Value* negative = b.CreateFNeg(inverse);
  Value* rest = b.CreateFSub(multiply_add(b, negative, high, one), inverse);
  return multiply_add(b, inverse, multiply_add(b, negative, low, rest), inverse);
}

}  // namespace hilo

// Roots, powers, logarithms and angles: by math.h where it has them, else by libm in double.
#include <cmath>

#include "emit/complex.h"
#include "emit/math.h"
#include "emit/scalars.h"

namespace hilo {
namespace {

using llvm::Value;

Value* intrinsic(const ScalarCall& c, llvm::Intrinsic::ID id) {
  return c.b.CreateUnaryIntrinsic(id, c.in[0]);
}

// A double as f32, to the odd one of its two neighbours, so that to round once more, to bf16 or
// f16, gives what rounding the double would (Boldo and Melquiond, "Emulation of FMA and correctly
// rounded sums: proved algorithms using rounding to odd", IEEE Transactions on Computers 57, 2008).
Value* odd(Builder& b, Value* real) {
  Value* nearest = b.CreateFPTrunc(real, b.getFloatTy());
  Value* back = b.CreateFPExt(nearest, b.getDoubleTy());
  Value* bits = b.CreateBitCast(nearest, b.getInt32Ty());
  Value* even = b.CreateICmpEQ(b.CreateAnd(bits, b.getInt32(1)), b.getInt32(0));
  Value* beyond = b.CreateFCmpOGT(real_parts::absolute(b, back), real_parts::absolute(b, real));
  Value* other =
      b.CreateSelect(beyond, b.CreateSub(bits, b.getInt32(1)), b.CreateAdd(bits, b.getInt32(1)));
  Value* moves = b.CreateAnd(even, b.CreateFCmpONE(back, real));
  return b.CreateBitCast(b.CreateSelect(moves, other, bits), b.getFloatTy());
}

// What the elements hold becomes doubles, and the result of doubles what they hold.
Value* widened(const ScalarCall& c, Value* held) {
  return c.type == ElementType::F64 ? held : c.b.CreateFPExt(held, c.b.getDoubleTy());
}
Value* narrowed(const ScalarCall& c, Value* real) {
  if (c.type == ElementType::F64) return real;
  return c.type == ElementType::F32 ? c.b.CreateFPTrunc(real, c.b.getFloatTy()) : odd(c.b, real);
}

using Wide = double (*)(double);
using Emitted = Value* (*)(Builder&, Value*);
// By `emitted` of narrower types than f64, which has a function of libm.
Value* real(const ScalarCall& c, Wide wide, Emitted emitted) {
  Value* in = widened(c, c.in[0]);
  if (c.type != ElementType::F64) return narrowed(c, emitted(c.b, in));
  Value* out = call_pure(c.b, reinterpret_cast<const void*>(wide), {without_subnormal(c.b, in)});
  return without_subnormal(c.b, out);
}

// By `of_f64` of f64.
Value* real(const ScalarCall& c, Emitted of_f64, Emitted emitted) {
  if (c.type == ElementType::F64) return of_f64(c.b, c.in[0]);
  return narrowed(c, emitted(c.b, widened(c, c.in[0])));
}

// An f16 whose result is so near to the middle of two f16 that its f32 is that middle. The result
// itself lies beyond it, away from zero, or before it.
struct Middle {
  float x;
  bool is_beyond;
};

Value* moved_off(Builder& b, Value* x, Value* result, std::span<const Middle> middles) {
  Value* bits = real_parts::bits(b, result);
  for (const Middle& middle : middles) {
    Value* is_it = b.CreateFCmpOEQ(x, real_parts::number(x, middle.x));
    bits = b.CreateAdd(
        bits, b.CreateSelect(is_it, b.getInt32(middle.is_beyond ? 1 : -1U), b.getInt32(0)));
  }
  return middles.empty() ? result : real_parts::from_bits(b, bits);
}

// A function of f32 and f64; bf16 and narrower ones are computed as f32, bf16 and f16 by those that
// are given.
struct Sixteen {
  Emitted of_bf16 = nullptr, of_f16 = nullptr;
};
Value* real(const ScalarCall& c, Emitted emitted, Sixteen sixteen,
            std::span<const Middle> middles_of_f16) {
  if (c.type == ElementType::BF16 && sixteen.of_bf16) return sixteen.of_bf16(c.b, c.in[0]);
  if (c.type != ElementType::F16) return emitted(c.b, c.in[0]);
  Value* result = (sixteen.of_f16 ? sixteen.of_f16 : emitted)(c.b, c.in[0]);
  return moved_off(c.b, c.in[0], result, middles_of_f16);
}

constexpr Middle middles_of_exp[] = {{0x1.de4p-8F, false}, {0x1.73cp-6F, false}};
constexpr Middle middles_of_expm1[] = {{0x1.6ap-11F, true}};
constexpr Middle middles_of_tanh[] = {{-0x1.b1p+0F, false}};
constexpr Middle middles_of_erf[] = {{0x1.848p-10F, false}, {-0x1.848p-10F, false}};
constexpr Middle middles_of_log[] = {{0x1.5ep-8F, false}};
constexpr Middle middles_of_log1p[] = {{0x1.80cp-8F, true}, {-0x1.7f4p-8F, false}};

// Near to 0 it is a little less than 1/2 + x/4, or more where x is negative, and that is often such
// a middle.
Value* logistic_of_f16(Builder& b, Value* x) {
  Value* result = math_logistic(b, x);
  Value* less = real_parts::copy_sign(b, real_parts::number(x, 0x1p-24), b.CreateFNeg(x));
  Value* is_near = b.CreateFCmpOLT(real_parts::absolute(b, x), real_parts::number(x, 0x1p-6));
  return b.CreateSelect(is_near, b.CreateFAdd(result, less), result);
}

using Wide2 = double (*)(double, double);
using Emitted2 = Value* (*)(Builder&, Value*, Value*);
Value* real(const ScalarCall& c, Wide2 wide, Emitted2 emitted) {
  Value *a = widened(c, c.in[0]), *d = widened(c, c.in[1]);
  if (c.type != ElementType::F64) return narrowed(c, emitted(c.b, a, d));
  Value* out = call_pure(c.b, reinterpret_cast<const void*>(wide),
                         {without_subnormal(c.b, a), without_subnormal(c.b, d)});
  return without_subnormal(c.b, out);
}

}  // namespace

Value* scalar_Ceil(const ScalarCall& c) { return intrinsic(c, llvm::Intrinsic::ceil); }
Value* scalar_Floor(const ScalarCall& c) { return intrinsic(c, llvm::Intrinsic::floor); }
Value* scalar_RoundNearestAfz(const ScalarCall& c) { return intrinsic(c, llvm::Intrinsic::round); }
Value* scalar_RoundNearestEven(const ScalarCall& c) {
  return intrinsic(c, llvm::Intrinsic::roundeven);
}
Value* scalar_Sqrt(const ScalarCall& c) {
  return is_complex(c.type) ? complex_call(c, "csqrt") : intrinsic(c, llvm::Intrinsic::sqrt);
}
Value* scalar_Rsqrt(const ScalarCall& c) {
  if (is_complex(c.type)) return complex_reciprocal_root(c);
  if (c.type != ElementType::F64 && real_parts::adds_products(c.b)) return math_rsqrt(c.b, c.in[0]);
  // Of f32 that hold narrower floats the quotient of f32 rounds to the nearest of these.
  const bool is_wide = c.type == ElementType::F32;
  Value* root =
      c.b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, is_wide ? widened(c, c.in[0]) : c.in[0]);
  Value* inverse = c.b.CreateFDiv(real_parts::number(root, 1), root);
  return is_wide ? narrowed(c, inverse) : inverse;
}
Value* scalar_IsFinite(const ScalarCall& c) {
  Value* magnitude = c.b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, c.in[0]);
  return c.b.CreateFCmpOLT(magnitude, llvm::ConstantFP::getInfinity(c.in[0]->getType()));
}
Value* scalar_Atan2(const ScalarCall& c) {
  if (is_complex(c.type)) return complex_atan2(c);
  if (c.type == ElementType::F64) return math_atan2_of_f64(c.b, c.in[0], c.in[1]);
  return narrowed(c, math_atan2(c.b, widened(c, c.in[0]), widened(c, c.in[1])));
}
Value* real_power(const ScalarCall& c) {
  if (c.type == ElementType::F64 && real_parts::adds_products(c.b))
    return math_pow_of_f64(c.b, c.in[0], c.in[1]);
  return real(c, Wide2(&::pow), &math_pow);
}

Value* scalar_Acos(const ScalarCall& c) {
  return is_complex(c.type) ? complex_call(c, "cacos") : real(c, Wide(&::acos), &math_acos);
}
Value* scalar_Acosh(const ScalarCall& c) {
  return is_complex(c.type) ? complex_call(c, "cacosh") : real(c, Wide(&::acosh), &math_acosh);
}
Value* scalar_Asin(const ScalarCall& c) {
  return is_complex(c.type) ? complex_call(c, "casin") : real(c, Wide(&::asin), &math_asin);
}
Value* scalar_Asinh(const ScalarCall& c) {
  return is_complex(c.type) ? complex_call(c, "casinh") : real(c, Wide(&::asinh), &math_asinh);
}
Value* scalar_Atanh(const ScalarCall& c) {
  return is_complex(c.type) ? complex_call(c, "catanh") : real(c, Wide(&::atanh), &math_atanh);
}
Value* scalar_Cbrt(const ScalarCall& c) { return real(c, Wide(&::cbrt), &math_cbrt); }
Value* scalar_Cosine(const ScalarCall& c) {
  return is_complex(c.type) ? complex_call(c, "ccos") : real(c, &math_cos_of_f64, &math_cos);
}
Value* scalar_Cosh(const ScalarCall& c) {
  return is_complex(c.type) ? complex_call(c, "ccosh") : real(c, Wide(&::cosh), &math_cosh);
}
Value* scalar_Erf(const ScalarCall& c) {
  if (c.type == ElementType::F32) return math_erf_of_f32(c.b, c.in[0]);
  if (c.type == ElementType::BF16) return math_erf_of_bf16(c.b, c.in[0]);
  if (c.type == ElementType::F16)
    return moved_off(c.b, c.in[0], math_erf_of_f32(c.b, c.in[0]), middles_of_erf);
  return real(c, Wide(&::erf), &math_erf);
}
Value* scalar_Exponential(const ScalarCall& c) {
  return is_complex(c.type)
             ? complex_call(c, "cexp")
             : real(c, &math_exp, {&math_exp_of_bf16, &math_exp_of_f16}, middles_of_exp);
}
Value* scalar_ExponentialMinusOne(const ScalarCall& c) {
  return is_complex(c.type) ? complex_exponential_minus_one(c)
                            : real(c, &math_expm1, {&math_expm1_of_bf16}, middles_of_expm1);
}
Value* scalar_Log(const ScalarCall& c) {
  return is_complex(c.type) ? complex_call(c, "clog") : real(c, &math_log, {}, middles_of_log);
}
Value* scalar_LogPlusOne(const ScalarCall& c) {
  return is_complex(c.type) ? complex_log_plus_one(c) : real(c, &math_log1p, {}, middles_of_log1p);
}
Value* scalar_Logistic(const ScalarCall& c) {
  if (is_complex(c.type)) return complex_logistic(c);
  return real(c, &math_logistic, {&math_logistic_of_bf16, &logistic_of_f16}, {});
}
Value* scalar_Sine(const ScalarCall& c) {
  return is_complex(c.type) ? complex_call(c, "csin") : real(c, &math_sin_of_f64, &math_sin);
}
Value* scalar_Sinh(const ScalarCall& c) {
  return is_complex(c.type) ? complex_call(c, "csinh") : real(c, Wide(&::sinh), &math_sinh);
}
Value* scalar_Tan(const ScalarCall& c) {
  return is_complex(c.type) ? complex_call(c, "ctan") : real(c, &math_tan_of_f64, &math_tan);
}
Value* scalar_Tanh(const ScalarCall& c) {
  return is_complex(c.type)
             ? complex_call(c, "ctanh")
             : real(c, &math_tanh, {&math_tanh_of_bf16, &math_tanh_of_f16}, middles_of_tanh);
}

}  // namespace hilo

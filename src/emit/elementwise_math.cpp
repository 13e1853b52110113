// Roots, powers, logarithms and angles. What glibc's float versions miss by more than one unit of
// the last place is computed in double, as in the evaluator.
#include <cmath>

#include "emit/scalars.h"

namespace hilo {
namespace {

using llvm::Value;

llvm::Value* refuse(const ScalarCall& c) {
  const auto id = static_cast<uint32_t>(&c.instruction - c.elements.module.instructions.data());
  c.elements.unsupported({id}, "of complex numbers");
  return llvm::PoisonValue::get(held_type(c.b, c.result));
}

Value* intrinsic(const ScalarCall& c, llvm::Intrinsic::ID id) {
  return is_complex(c.type) ? refuse(c) : c.b.CreateUnaryIntrinsic(id, c.in[0]);
}

using Double = double (*)(double);
using Float = float (*)(float);
// A function of libm in the element's own type, or in double.
Value* call_of(const ScalarCall& c, Double wide, Float narrow) {
  if (is_complex(c.type)) return refuse(c);
  Builder& b = c.b;
  if (c.type != ElementType::F64 && narrow)
    return call_pure(b, reinterpret_cast<const void*>(narrow), b.getFloatTy(), {c.in[0]});
  Value* in = c.type == ElementType::F64 ? c.in[0] : b.CreateFPExt(c.in[0], b.getDoubleTy());
  Value* out = call_pure(b, reinterpret_cast<const void*>(wide), b.getDoubleTy(), {in});
  return c.type == ElementType::F64 ? out : b.CreateFPTrunc(out, b.getFloatTy());
}

double logistic(double x) {
  const double e = std::exp(-std::fabs(x));
  return x >= 0 ? 1 / (1 + e) : x < 0 ? e / (1 + e) : x;
}

}  // namespace

Value* scalar_Ceil(const ScalarCall& c) { return intrinsic(c, llvm::Intrinsic::ceil); }
Value* scalar_Floor(const ScalarCall& c) { return intrinsic(c, llvm::Intrinsic::floor); }
Value* scalar_RoundNearestAfz(const ScalarCall& c) { return intrinsic(c, llvm::Intrinsic::round); }
Value* scalar_RoundNearestEven(const ScalarCall& c) {
  return intrinsic(c, llvm::Intrinsic::roundeven);
}
Value* scalar_Sqrt(const ScalarCall& c) { return intrinsic(c, llvm::Intrinsic::sqrt); }
Value* scalar_Rsqrt(const ScalarCall& c) {
  if (is_complex(c.type)) return refuse(c);
  Builder& b = c.b;
  Value* in = c.type == ElementType::F64 ? c.in[0] : b.CreateFPExt(c.in[0], b.getDoubleTy());
  Value* out = b.CreateFDiv(llvm::ConstantFP::get(b.getDoubleTy(), 1.0),
                            b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, in));
  return c.type == ElementType::F64 ? out : b.CreateFPTrunc(out, b.getFloatTy());
}
Value* scalar_IsFinite(const ScalarCall& c) {
  if (is_complex(c.type)) return refuse(c);
  Value* magnitude = c.b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, c.in[0]);
  return c.b.CreateFCmpOLT(magnitude, llvm::ConstantFP::getInfinity(c.in[0]->getType()));
}
Value* scalar_Atan2(const ScalarCall& c) {
  if (is_complex(c.type)) return refuse(c);
  Builder& b = c.b;
  const auto widen = [&](Value* v) {
    return c.type == ElementType::F64 ? v : b.CreateFPExt(v, b.getDoubleTy());
  };
  double (*const function)(double, double) = &::atan2;
  Value* out = call_pure(b, reinterpret_cast<const void*>(function), b.getDoubleTy(),
                         {widen(c.in[0]), widen(c.in[1])});
  return c.type == ElementType::F64 ? out : b.CreateFPTrunc(out, b.getFloatTy());
}

Value* scalar_Acos(const ScalarCall& c) { return call_of(c, &::acos, nullptr); }
Value* scalar_Acosh(const ScalarCall& c) { return call_of(c, &::acosh, nullptr); }
Value* scalar_Asin(const ScalarCall& c) { return call_of(c, &::asin, nullptr); }
Value* scalar_Asinh(const ScalarCall& c) { return call_of(c, &::asinh, nullptr); }
Value* scalar_Atanh(const ScalarCall& c) { return call_of(c, &::atanh, nullptr); }
Value* scalar_Cbrt(const ScalarCall& c) { return call_of(c, &::cbrt, nullptr); }
Value* scalar_Cosine(const ScalarCall& c) { return call_of(c, &::cos, &::cosf); }
Value* scalar_Cosh(const ScalarCall& c) { return call_of(c, &::cosh, nullptr); }
Value* scalar_Erf(const ScalarCall& c) { return call_of(c, &::erf, nullptr); }
Value* scalar_Exponential(const ScalarCall& c) { return call_of(c, &::exp, &::expf); }
Value* scalar_ExponentialMinusOne(const ScalarCall& c) { return call_of(c, &::expm1, nullptr); }
Value* scalar_Log(const ScalarCall& c) { return call_of(c, &::log, &::logf); }
Value* scalar_LogPlusOne(const ScalarCall& c) { return call_of(c, &::log1p, nullptr); }
Value* scalar_Logistic(const ScalarCall& c) { return call_of(c, &logistic, nullptr); }
Value* scalar_Sine(const ScalarCall& c) { return call_of(c, &::sin, &::sinf); }
Value* scalar_Sinh(const ScalarCall& c) { return call_of(c, &::sinh, nullptr); }
Value* scalar_Tan(const ScalarCall& c) { return call_of(c, &::tan, nullptr); }
Value* scalar_Tanh(const ScalarCall& c) { return call_of(c, &::tanh, nullptr); }

}  // namespace hilo

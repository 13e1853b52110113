// convert and reduce-precision.
#include "emit/scalars.h"

namespace hilo {

using llvm::Value;

Value* scalar_Convert(const ScalarCall& c) { return convert(c.b, c.type, c.result, c.in[0]); }

// Keeps mantissa_bits bits after the point, rounded to even, and exponents of exponent_bits: larger
// becomes infinity, smaller zero ("ReducePrecision" in XLA's operation semantics). In f32 or f64.
Value* scalar_ReducePrecision(const ScalarCall& c) {
  Builder& b = c.b;
  const auto& attributes = c.elements.module.attributes<ReducePrecisionAttributes>(c.instruction);
  const bool is_double = c.type == ElementType::F64;
  const int64_t significand = is_double ? 52 : 23, exponent_bits = is_double ? 11 : 8;
  Value* x = c.in[0];
  llvm::IntegerType* bits = b.getIntNTy(is_double ? 64 : 32);
  const auto of = [&](int64_t n) {
    return llvm::ConstantInt::get(bits, static_cast<uint64_t>(n), true);
  };
  const auto exponent_of = [&](Value* raw) {
    return b.CreateAnd(b.CreateLShr(raw, of(significand)), of((int64_t{1} << exponent_bits) - 1));
  };
  const auto sign_of_x = [&](double magnitude) {
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign,
                                   llvm::ConstantFP::get(x->getType(), magnitude), x);
  };
  Value* raw = b.CreateBitCast(x, bits);
  if (const int64_t dropped = significand - attributes.mantissa_bits; dropped > 0) {
    const int64_t unit = int64_t{1} << dropped;
    Value* last = b.CreateAnd(b.CreateLShr(raw, of(dropped)), of(1));
    raw = b.CreateAdd(raw, b.CreateAdd(last, of(unit / 2 - 1)));
    raw = b.CreateAnd(raw, of(-unit));
  }
  Value* out = b.CreateBitCast(raw, x->getType());
  // An exponent as wide as the type's own changes nothing, of subnormal numbers either.
  const int64_t own_bits = c.type == ElementType::F16 ? 5 : exponent_bits;
  if (attributes.exponent_bits < own_bits) {
    const int64_t bias = (int64_t{1} << (attributes.exponent_bits - 1)) - 1;
    const int64_t middle = (int64_t{1} << (exponent_bits - 1)) - 1;
    Value* exponent = exponent_of(raw);
    Value* is_zero = b.CreateICmpSLE(exponent, of(middle - bias));
    out = b.CreateSelect(b.CreateICmpSGT(exponent, of(middle + bias)), sign_of_x(HUGE_VAL), out);
    out = b.CreateSelect(is_zero, sign_of_x(0), out);
  }
  Value* magnitude = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  Value* finite = b.CreateFCmpOLT(magnitude, llvm::ConstantFP::getInfinity(x->getType()));
  return b.CreateSelect(finite, out, x);
}

}  // namespace hilo

// convert and reduce-precision.
#include "emit/scalars.h"

namespace hilo {

using llvm::Value;

Value* scalar_Convert(const ScalarCall& c) { return convert(c.b, c.type, c.result, c.in[0]); }

// Keeps mantissa_bits bits after the point, rounded to even, and exponents of exponent_bits: larger
// becomes infinity, smaller zero ("ReducePrecision" in XLA's operation semantics). In f64, in which
// every type fits.
Value* scalar_ReducePrecision(const ScalarCall& c) {
  Builder& b = c.b;
  const auto& attributes = c.elements.module.attributes<ReducePrecisionAttributes>(c.instruction);
  Value* x = c.type == ElementType::F64 ? c.in[0] : b.CreateFPExt(c.in[0], b.getDoubleTy());
  Value* raw = b.CreateBitCast(x, b.getInt64Ty());
  if (const int64_t dropped = 52 - attributes.mantissa_bits; dropped > 0) {
    const uint64_t unit = uint64_t{1} << dropped;
    Value* last = b.CreateAnd(b.CreateLShr(raw, static_cast<uint64_t>(dropped)), b.getInt64(1));
    raw = b.CreateAdd(raw, b.CreateAdd(last, b.getInt64(unit / 2 - 1)));
    raw = b.CreateAnd(raw, b.getInt64(~(unit - 1)));
  }
  Value* out = b.CreateBitCast(raw, b.getDoubleTy());
  if (attributes.exponent_bits < (c.type == ElementType::F64 ? 11 : 8)) {
    const int64_t bias = (int64_t{1} << (attributes.exponent_bits - 1)) - 1;
    Value* exponent = b.CreateAnd(b.CreateLShr(raw, 52), b.getInt64(0x7ff));
    const auto sign_of_x = [&](double magnitude) {
      return b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign,
                                     llvm::ConstantFP::get(b.getDoubleTy(), magnitude), x);
    };
    const auto biased = [&](int64_t e) { return b.getInt64(static_cast<uint64_t>(e + 1023)); };
    out = b.CreateSelect(b.CreateICmpSLE(exponent, biased(-bias)), sign_of_x(0), out);
    out = b.CreateSelect(b.CreateICmpSGT(exponent, biased(bias)), sign_of_x(HUGE_VAL), out);
  }
  Value* magnitude = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  Value* finite = b.CreateFCmpOLT(magnitude, llvm::ConstantFP::getInfinity(b.getDoubleTy()));
  out = b.CreateSelect(finite, out, x);
  return c.type == ElementType::F64 ? out : b.CreateFPTrunc(out, b.getFloatTy());
}

}  // namespace hilo

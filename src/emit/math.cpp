#include "emit/math.h"

#include <llvm/IR/Intrinsics.h>

#include "emit/vector_registers.h"

namespace hilo::real_parts {

using llvm::Value;

Value* number(Builder& b, double value) { return llvm::ConstantFP::get(b.getDoubleTy(), value); }

Value* number(Value* like, double value) { return llvm::ConstantFP::get(like->getType(), value); }

Value* bits(Builder& b, Value* x) {
  return b.CreateBitCast(x, b.getIntNTy(x->getType()->getScalarSizeInBits()));
}

Value* from_bits(Builder& b, Value* x) {
  const bool single = x->getType()->getIntegerBitWidth() == 32;
  return b.CreateBitCast(x, single ? b.getFloatTy() : b.getDoubleTy());
}

const Format& format_of(Value* x) {
  static constexpr Format f32 = {23, 0x1.62e4p-1, 0x1.7f7d1cp-20, 0x1.8p23};
  static constexpr Format f64 = {52, 0x1.62e42feep-1, 0x1.a39ef35793c76p-33, 0x1.8p52};
  return x->getType()->isFloatTy() ? f32 : f64;
}

bool adds_products(const Builder& b) {
  return vector_registers(*b.GetInsertBlock()->getModule()).bytes >= 32;
}

Value* multiply_add(Builder& b, Value* a, Value* c, Value* d) {
  return b.CreateIntrinsic(llvm::Intrinsic::fmuladd, {a->getType()}, {a, c, d});
}

Value* at_most(Builder& b, Value* x, double most) {
  return b.CreateSelect(b.CreateFCmpOGT(x, number(x, most)), number(x, most), x);
}

Value* at_least(Builder& b, Value* x, double least) {
  return b.CreateSelect(b.CreateFCmpOLT(x, number(x, least)), number(x, least), x);
}

Value* twice(Builder& b, Value* x) { return b.CreateFAdd(x, x); }
Value* half_of(Builder& b, Value* x) { return b.CreateFMul(x, number(b, 0.5)); }
Value* absolute(Builder& b, Value* x) { return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); }

Value* copy_sign(Builder& b, Value* magnitude, Value* sign) {
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, magnitude, sign);
}

Value* give_sign(Builder& b, Value* positive, Value* sign) {
  Value* of_sign = bits(b, sign);
  const auto mask = llvm::APInt::getSignMask(of_sign->getType()->getScalarSizeInBits());
  of_sign = b.CreateAnd(of_sign, llvm::ConstantInt::get(of_sign->getType(), mask));
  return from_bits(b, b.CreateOr(bits(b, positive), of_sign));
}

Value* clamp(Builder& b, Value* x, double least, double most) {
  return at_least(b, at_most(b, x, most), least);
}

// One step of Newton's method from the quotient in f32, whose division is several times faster.
Value* reciprocal(Builder& b, Value* x) {
  Value* narrow = b.CreateFPTrunc(x, b.getFloatTy());
  Value* quotient = b.CreateFDiv(llvm::ConstantFP::get(b.getFloatTy(), 1.0), narrow);
  Value* first = b.CreateFPExt(quotient, b.getDoubleTy());
  Value* rest = multiply_add(b, b.CreateFNeg(x), first, number(b, 1));
  return multiply_add(b, first, rest, first);
}

Value* polynomial(Builder& b, Value* x, std::span<const double> coefficients) {
  const size_t count = coefficients.size();
  if (count == 1) return number(x, coefficients[0]);
  if (count == 2) return multiply_add(b, x, number(x, coefficients[1]), number(x, coefficients[0]));
  // Pairs first, then the same in the square of x.
  std::vector<Value*> terms;
  for (size_t i = 0; i < count; i += 2)
    terms.push_back(polynomial(b, x, coefficients.subspan(i, std::min<size_t>(2, count - i))));
  Value* power = b.CreateFMul(x, x);
  for (; terms.size() > 1 && terms.size() != 3; power = b.CreateFMul(power, power)) {
    std::vector<Value*> next;
    for (size_t i = 0; i < terms.size(); i += 2)
      next.push_back(i + 1 < terms.size() ? multiply_add(b, power, terms[i + 1], terms[i])
                                          : terms[i]);
    terms = std::move(next);
  }
  // Of three the last two are ready when the square of `power` would be.
  return terms.size() == 1
             ? terms[0]
             : multiply_add(b, power, multiply_add(b, power, terms[2], terms[1]), terms[0]);
}

Value* horner(Builder& b, Value* x, std::span<const double> coefficients) {
  Value* sum = number(x, coefficients.back());
  for (size_t i = coefficients.size() - 1; i-- > 0;)
    sum = multiply_add(b, sum, x, number(x, coefficients[i]));
  return sum;
}

Nearest nearest(Builder& b, Value* x) {
  Value* large = number(b, format_of(x).large);
  Value* sum = b.CreateFAdd(x, large);
  return {b.CreateFSub(sum, large), bits(b, sum)};
}

Value* table(Builder& b, const std::string& name, llvm::function_ref<llvm::Constant*()> make) {
  llvm::Module& module = *b.GetInsertBlock()->getModule();
  if (llvm::GlobalVariable* made = module.getNamedGlobal(name)) return made;
  llvm::Constant* data = make();
  return new llvm::GlobalVariable(module, data->getType(), true, llvm::GlobalValue::PrivateLinkage,
                                  data, name);
}

Value* looked_up(Builder& b, const std::string& name, const Row& numbers, Value* bits) {
  Value* row =
      table(b, name, [&] { return llvm::ConstantDataArray::get(b.getContext(), numbers); });
  Value* place = b.CreateZExt(b.CreateAnd(bits, numbers.size() - 1), b.getInt64Ty());
  return b.CreateLoad(b.getFloatTy(), b.CreateInBoundsGEP(b.getFloatTy(), row, place));
}

bool looks_up_16(const Builder& b) {
  return vector_registers(*b.GetInsertBlock()->getModule()).bytes >= 64;
}

}  // namespace hilo::real_parts

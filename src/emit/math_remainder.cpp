// What is left of x after as many times y as its magnitude has room for, exactly. In doubles that
// hold narrower floats q = trunc(x / y) of so few bits that q * y is a double. A quotient that is
// rounded is at most one too large, and then what is left is negative.
#include <cmath>

#include "emit/math.h"
#include "emit/select_to_branch.h"

namespace hilo {
namespace {

using llvm::Value;
using namespace real_parts;

constexpr int bits_of_double = std::numeric_limits<double>::digits;
constexpr int widest_ratio = 254;  // of two f32: powers of two

// Of numbers that are not negative.
Value* rest_of(Builder& b, Value* x, Value* y) {
  Value* quotient = b.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, b.CreateFDiv(x, y));
  Value* rest = b.CreateFSub(x, b.CreateFMul(quotient, y));
  return b.CreateSelect(b.CreateFCmpOLT(rest, number(b, 0)), b.CreateFAdd(rest, y), rest);
}

}  // namespace

Value* math_remainder(Builder& b, Value* x, Value* y, int significand) {
  const int bits = bits_of_double - 1 - significand;  // of a quotient
  Value *first = absolute(b, x), *second = absolute(b, y);
  const auto times_power = [&](int exponent) {
    return b.CreateFMul(second, number(b, std::ldexp(1.0, exponent)));
  };
  // First of the largest y * 2^(k * bits), each of which leaves less than itself.
  Value* left = first;
  for (int exponent = widest_ratio / bits * bits; exponent > 0; exponent -= bits)
    left = rest_of(b, left, times_power(exponent));
  Value* is_far = b.CreateAnd(b.CreateFCmpOGE(first, times_power(bits)),
                              b.CreateFCmpOLT(first, number(b, infinity)));
  is_far = b.CreateAnd(is_far, b.CreateFCmpOGT(second, number(b, 0)));
  Value* near = rest_of(b, unlikely_select(b, is_far, left, first), second);
  Value* is_less = b.CreateFCmpOLT(first, second);
  return copy_sign(b, b.CreateSelect(is_less, first, near), x);
}

// Where the quotient is a whole number of 53 bits, what is left is a double. Others are rare, NaN
// and quotients by zero among them, and left to libm.
Value* math_remainder_of_f64(Builder& b, Value* x, Value* y) {
  Value *first = absolute(b, x), *second = absolute(b, y);
  Value* quotient = b.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, b.CreateFDiv(first, second));
  Value* rest = b.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()},
                                  {b.CreateFNeg(quotient), second, first});
  rest = b.CreateSelect(b.CreateFCmpOLT(rest, number(b, 0)), b.CreateFAdd(rest, second), rest);
  rest = copy_sign(b, b.CreateSelect(b.CreateFCmpOLT(first, second), first, rest), x);
  Value* is_far = b.CreateFCmpUGE(quotient, number(b, std::ldexp(1.0, bits_of_double)));
  return unlikely_select(b, is_far, b.CreateFRem(x, y), rest);
}

// From 1 on x / y is exact or so small that nothing is divided, and x - trunc(x / y) * y is exact.
Value* math_remainder_by_power(Builder& b, Value* x, Value* y) {
  constexpr int most = 100;  // its reciprocal is a normal f32
  const auto* known = llvm::dyn_cast<llvm::ConstantFP>(y);
  if (!known) return nullptr;
  const llvm::APFloat power = llvm::abs(known->getValueAPF());
  const int exponent = power.getExactLog2Abs();
  if (exponent < 0 || exponent > most) return nullptr;
  const auto of = [&](double value) { return llvm::ConstantFP::get(x->getType(), value); };
  Value* quotient = b.CreateUnaryIntrinsic(llvm::Intrinsic::trunc,
                                           b.CreateFMul(x, of(std::ldexp(1.0, -exponent))));
  Value* rest = b.CreateFSub(x, b.CreateFMul(quotient, of(std::ldexp(1.0, exponent))));
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, rest, x);
}

}  // namespace hilo

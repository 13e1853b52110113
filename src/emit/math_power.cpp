// x^y = e^(y ln |x|), its sign and its edges: of narrower numbers in double, of f64 with ln |x| as
// a sum of two numbers, which lacks less than 2^-65 of it (P. Tang, "Table-driven implementation of
// the logarithm function in IEEE floating-point arithmetic", ACM Transactions on Mathematical
// Software 16, 1990).
#include <array>
#include <bit>
#include <cmath>

#include <llvm/IR/Module.h>

#include "emit/math.h"

namespace hilo {
namespace {

using llvm::Value;
using namespace real_parts;

// |x| = 2^k z, z from `least` to twice that. Rows of the table are of one size in bits, and one of
// them begins at 1.
constexpr uint64_t significand = FloatBits<double>::significand, row_bits = 7;
constexpr uint64_t rows = uint64_t{1} << row_bits;
constexpr uint64_t least = 0x3fe6a00000000000, one = FloatBits<double>::power(0);
// (ln(1 + r) - r + r^2 / 2) / r^3, |r| < 2^-7
constexpr double rest_of_row[] = {
    0x1.5555555555555p-2, -0x1.000000000002dp-2, 0x1.99999999999ebp-3, -0x1.5555554a21e57p-3,
    0x1.2492491a63858p-3, -0x1.000599b0ef46fp-3, 0x1.c726a07dd3b00p-4};

// A number of the table and one of the code, as sums of two.
struct Double {
  double high, low;
};
struct Sum {
  Value *high, *low;
};

Double product_of(const Double& a, const Double& c) {
  const double high = a.high * c.high;
  return {high, std::fma(a.high, c.high, -high) + (a.high * c.low + a.low * c.high)};
}

// Near 1 / z, of so few bits that z times it less 1 is a double; 1 beside 1, where the logarithm is
// small.
double inverse_of(uint64_t row) {
  const auto begin_of = [](uint64_t i) {
    return std::bit_cast<double>(least + (i << (significand - row_bits)));
  };
  const double begin = begin_of(row), end = begin_of(row + 1);
  if (begin == 1 || end == 1) return 1;
  const double unit = begin < 1 ? 0x1p-7 : 0x1p-8;
  return std::round(2 / (begin + end) / unit) * unit;
}

// -ln x = 2 (s + s^3 / 3 + s^5 / 5 + ...), s = (1 - x) / (1 + x), of an inverse: a multiple of
// 2^-42, which may be added to multiples of ln 2 exactly, and the rest.
Double logarithm_of_inverse(double x) {
  Double s = {(1 - x) / (1 + x), 0};
  s.low = std::fma(-s.high, 1 + x, 1 - x) / (1 + x);
  const Double square = product_of(s, s);
  double tail = 0;
  for (int n = 25; n >= 5; n -= 2) tail = tail * square.high + 1.0 / n;
  const Double third = {1.0 / 3, std::fma(-3, 1.0 / 3, 1) / 3 + square.high * tail};
  const Double rest = product_of(product_of(s, square), third);
  const double high = std::ldexp(std::round(std::ldexp(2 * (s.high + rest.high), 42)), -42);
  return {high, ((2 * s.high - high) + 2 * rest.high) + 2 * (s.low + rest.low)};
}

// The inverses, then both parts of their logarithms.
Value* logarithms(Builder& b) {
  return table(b, "logarithms_of_inverses", [&] {
    std::array<double, 3 * rows> values;
    for (uint64_t row = 0; row < rows; ++row) {
      values[row] = inverse_of(row);
      const Double log = logarithm_of_inverse(values[row]);
      values[rows + row] = log.high;
      values[2 * rows + row] = log.low;
    }
    return llvm::ConstantDataArray::get(b.getContext(), values);
  });
}

// a + c where |a| >= |c| or a is a multiple of c's last place (Dekker).
Sum ordered_sum(Builder& b, Value* a, Value* c) {
  Value* high = b.CreateFAdd(a, c);
  return {high, b.CreateFSub(c, b.CreateFSub(high, a))};
}
Sum product_of(Builder& b, Value* a, Value* c) {
  Value* high = b.CreateFMul(a, c);
  return {high,
          b.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, c, b.CreateFNeg(high)})};
}

// k ln 2 - ln(inverse) + ln(1 + r), r = z * inverse - 1, of a positive finite x.
Sum logarithm_of_f64(Builder& b, Value* x) {
  const Format& format = format_of(x);
  Value* all = bits(b, x);
  Value* shifted = b.CreateAdd(all, b.getInt64(one - least));
  Value* exponent = b.CreateAnd(shifted, b.getInt64(~((uint64_t{1} << significand) - 1)));
  Value* z = from_bits(b, b.CreateAdd(b.CreateSub(all, exponent), b.getInt64(one)));
  constexpr double large = 0x1p52;
  Value* k = b.CreateOr(b.CreateLShr(shifted, significand), bits(b, number(x, large)));
  k = b.CreateFSub(from_bits(b, k), number(x, large + double{FloatBits<double>::bias}));
  Value* row = b.CreateAnd(b.CreateLShr(shifted, significand - row_bits), b.getInt64(rows - 1));
  const auto column = [&](uint64_t first) {
    Value* place = b.CreateAdd(row, b.getInt64(first * rows));
    return b.CreateLoad(x->getType(), b.CreateInBoundsGEP(x->getType(), logarithms(b), place));
  };
  Value* r = b.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()}, {z, column(0), number(x, -1)});
  Value* whole = multiply_add(b, k, number(x, format.ln_2_high), column(1));
  Value* low = multiply_add(b, k, number(x, format.ln_2_low), column(2));
  const Sum first = ordered_sum(b, whole, r);
  const Sum square = product_of(b, r, b.CreateFMul(r, number(x, -0.5)));
  const Sum second = ordered_sum(b, first.high, square.high);
  low = b.CreateFAdd(low, b.CreateFAdd(first.low, b.CreateFAdd(square.low, second.low)));
  Value* cube = b.CreateFMul(b.CreateFMul(r, r), r);
  return ordered_sum(b, second.high, multiply_add(b, cube, polynomial(b, r, rest_of_row), low));
}

// ln of 0, infinity or NaN beside that of others.
Value* with_edges(Builder& b, Value* magnitude, Value* log) {
  Value* is_finite = b.CreateFCmpOLT(magnitude, number(b, infinity));
  log = b.CreateSelect(is_finite, log, magnitude);
  return b.CreateSelect(b.CreateFCmpOEQ(magnitude, number(b, 0)), number(b, -infinity), log);
}

Value* is_whole(Builder& b, Value* x) {
  return b.CreateFCmpOEQ(b.CreateUnaryIntrinsic(llvm::Intrinsic::floor, x), x);
}

// Of power = |x|^y. The cases of IEEE 754 section 9.2.1: what is to the 0 and 1 to what is are 1,
// NaN included; a negative number has powers with whole exponents alone, negative ones with odd
// exponents.
Value* power_of_signed(Builder& b, Value* x, Value* y, Value* power) {
  Value *zero = number(b, 0), *unit = number(b, 1), *end = number(b, infinity);
  Value* magnitude = absolute(b, x);
  Value* odd = b.CreateAnd(is_whole(b, y), b.CreateNot(is_whole(b, half_of(b, y))));
  Value* signed_power = b.CreateSelect(odd, copy_sign(b, power, x), power);
  Value* undefined = b.CreateAnd(b.CreateAnd(b.CreateFCmpOLT(x, zero), b.CreateNot(is_whole(b, y))),
                                 b.CreateFCmpOLT(magnitude, end));
  Value* result = b.CreateSelect(undefined, number(b, nan), signed_power);
  Value* turns =
      b.CreateAnd(b.CreateFCmpOEQ(magnitude, unit), b.CreateFCmpOEQ(absolute(b, y), end));
  Value* is_one = b.CreateOr(b.CreateOr(b.CreateFCmpOEQ(x, unit), b.CreateFCmpOEQ(y, zero)), turns);
  return b.CreateSelect(is_one, unit, result);
}

}  // namespace

Value* math_pow(Builder& b, Value* x, Value* y) {
  Value* log = with_edges(b, absolute(b, x), log_of_positive(b, x));
  return power_of_signed(b, x, y, math_exp(b, b.CreateFMul(y, log)));
}

Value* math_pow_of_f64(Builder& b, Value* x, Value* y) {
  Value* magnitude = absolute(b, x);
  const Sum log = logarithm_of_f64(b, magnitude);
  const Sum exponent = product_of(b, y, with_edges(b, magnitude, log.high));
  Value* low = multiply_add(b, y, log.low, exponent.low);
  return power_of_signed(b, x, y, math_exp_of_sum(b, exponent.high, low));
}

}  // namespace hilo

// Exponentials of f32 and f64 in their own precision: e^x = 2^n (1 + p), p = e^r - 1, n the integer
// nearest to x / ln 2, |r| <= ln 2 / 2. Where a result would lose a bit, p and what is made of it
// are sums of two numbers.
#include <cmath>

#include "emit/math.h"

namespace hilo {
namespace {

using llvm::Value;
using namespace real_parts;

// (e^r - 1 - r) / r^2
constexpr double rest_of_f32[] = {0x1.000000p-1, 0x1.555556p-3,  0x1.5554eap-5,
                                  0x1.1110e0p-7, 0x1.6d4316p-10, 0x1.a124e4p-13};
// The same up to r = ln 2
constexpr double rest_of_more_f32[] = {0x1.fffffcp-2, 0x1.555582p-3,  0x1.5558c2p-5,
                                       0x1.10d93ep-7, 0x1.6a75b8p-10, 0x1.ea65dcp-13};
constexpr double rest_of_f64[] = {
    0x1.0000000000001p-1,  0x1.5555555555556p-3,  0x1.5555555553d68p-5,  0x1.11111111109b5p-7,
    0x1.6c16c17889fc9p-10, 0x1.a01a01a7c2f83p-13, 0x1.a019b91465e3cp-16, 0x1.71de0db2d67a1p-19,
    0x1.28917cc7ed137p-22, 0x1.af389f1c678b1p-26};
// (tanh x / x - 1) / x^2 in x^2, of f32
constexpr double end_of_small = 0.975;
constexpr double rest_of_tanh[] = {-0x1.555546p-2, 0x1.110d2cp-3, -0x1.b98250p-5, 0x1.60ce9cp-6,
                                   -0x1.06d628p-7, 0x1.357c76p-9, -0x1.8b8da8p-12};
// (e^2r - 1) / r, |r| <= ln 2 / 4, of f32
constexpr double rest_of_square[] = {
    2, 2, 0x1.55547cp+0, 0x1.5554eap-1, 0x1.123d82p-2, 0x1.6d4316p-4};

// Of f32 and f64: the least and the largest x whose e^x is a normal number, and the polynomial.
struct Range {
  double least, most;
  std::span<const double> rest;
};
constexpr Range range_of_f32 = {-0x1.5d589ep6, 0x1.62e42ep6, rest_of_f32};
constexpr Range range_of_f64 = {-0x1.6232bdd7abcd2p+9, 0x1.62e42fefa39efp+9, rest_of_f64};

const Range& range_of(Value* x) { return x->getType()->isFloatTy() ? range_of_f32 : range_of_f64; }

struct Reduced {
  Value* n;  // in the low bits of an integer
  Value *r, *square;
  Value* lost;  // what r lacks
  Value* rest;  // (e^r - 1 - r) / r^2
};

// Of x, or of x + more, where more is less than x's last place.
Reduced reduced(Builder& b, Value* x, Value* more = nullptr) {
  const Format& format = format_of(x);
  // The integer stays in the low bits of the significand.
  Value* large = number(x, format.large);
  Value* shifted = multiply_add(b, x, number(x, std::numbers::log2e), large);
  Value* n = b.CreateFSub(shifted, large);
  Value* first = multiply_add(b, n, number(x, -format.ln_2_high), x);
  Value* r = multiply_add(b, n, number(x, -format.ln_2_low), first);
  Value* lost = multiply_add(b, n, number(x, -format.ln_2_low), b.CreateFSub(first, r));
  if (more) r = b.CreateFAdd(r, b.CreateFAdd(lost, more));
  return {bits(b, shifted), r, b.CreateFMul(r, r), lost, polynomial(b, r, range_of(x).rest)};
}

// factor * 2^n, where that is a normal number.
Value* scaled(Builder& b, Value* factor, Value* n) {
  return from_bits(b, b.CreateAdd(bits(b, factor), b.CreateShl(n, format_of(factor).significand)));
}

// A number as a sum, the second part less than half a unit of the first one's last place.
struct Sum {
  Value *high, *low;
};

// a + c where |a| >= |c| (Dekker, "A floating-point technique for extending the available
// precision", Numerische Mathematik 18, 1971).
Sum sum_of(Builder& b, Value* a, Value* c) {
  Value* high = b.CreateFAdd(a, c);
  return {high, b.CreateFSub(c, b.CreateFSub(high, a))};
}

Sum sum_of(Builder& b, const Reduced& e) { return sum_of(b, e.r, b.CreateFMul(e.square, e.rest)); }

// Up to end_of_small. Products that are rounded before they are added would lose a bit in f32.
Value* tanh_of_small(Builder& b, Value* magnitude) {
  const bool is_wide = !adds_products(b);
  Value* x = is_wide ? b.CreateFPExt(magnitude, b.getDoubleTy()) : magnitude;
  Value* square = b.CreateFMul(x, x);
  Value* out = multiply_add(b, b.CreateFMul(x, square), horner(b, square, rest_of_tanh), x);
  return is_wide ? b.CreateFPTrunc(out, b.getFloatTy()) : out;
}

// |x| < 10: 1 - 2 / (e^2x + 1), e^2x = 2^n (1 + r q), and from a polynomial where that would lose
// bits.
Value* tanh_of_f32(Builder& b, Value* magnitude) {
  const auto of = [&](double value) { return number(magnitude, value); };
  const Format& format = format_of(magnitude);
  Value* shifted = multiply_add(b, magnitude, of(2 * std::numbers::log2e),
                                of(format.large + FloatBits<float>::bias));
  Value* n = b.CreateFSub(shifted, of(format.large + FloatBits<float>::bias));
  // n is less than 32: what ln 2 loses in f32 changes no result by 0.02 units.
  Value* r;
  if (adds_products(b)) {
    r = multiply_add(b, n, of(-std::numbers::ln2 / 2), magnitude);
  } else {
    r = multiply_add(b, n, of(-format.ln_2_high / 2), magnitude);
    r = multiply_add(b, n, of(-format.ln_2_low / 2), r);
  }
  Value* scale = from_bits(b, b.CreateShl(bits(b, shifted), format.significand));
  Value* below = multiply_add(b, b.CreateFMul(scale, r), polynomial(b, r, rest_of_square),
                              b.CreateFAdd(scale, of(1)));
  Value* large = b.CreateFSub(of(1), b.CreateFDiv(of(2), below));
  // A NaN would lose its bits in `large`.
  Value* is_small = b.CreateFCmpULT(magnitude, of(end_of_small));
  return b.CreateSelect(is_small, tanh_of_small(b, magnitude), large);
}

// |x| < 40: m / (m + 2), m = e^2x - 1 = 2^n p + (2^n - 1).
Value* tanh_of_f64(Builder& b, Value* magnitude) {
  const Reduced e = reduced(b, b.CreateFAdd(magnitude, magnitude));
  Value* scale = scaled(b, number(magnitude, 1), e.n);
  Value* m = multiply_add(b, scale, multiply_add(b, e.square, e.rest, e.r),
                          b.CreateFSub(scale, number(magnitude, 1)));
  return b.CreateFDiv(m, b.CreateFAdd(m, number(magnitude, 2)));
}

// y = 2^n (1 + q), q = r + r^2 rest: the first part of r is exact, so that what it lacks is added
// to the small product. n stays where 2^n is a normal number or, below that, zero; the results
// beyond the largest power are infinite by themselves, for all terms of r there are positive.
Value* exp_of_f32(Builder& b, Value* x) {
  const Format& format = format_of(x);
  constexpr double below_normal = -87.9;
  const double large = format.large + FloatBits<float>::bias;
  Value* inside = at_least(b, x, below_normal);
  Value* shifted =
      at_most(b, multiply_add(b, inside, number(x, std::numbers::log2e), number(x, large)),
              large + FloatBits<float>::bias);
  Value* n = b.CreateFSub(shifted, number(x, large));
  Value* first = multiply_add(b, n, number(x, -format.ln_2_high), inside);
  Value* lost = b.CreateFMul(n, number(x, -format.ln_2_low));
  Value* r = b.CreateFAdd(first, lost);
  Value* q = multiply_add(b, b.CreateFMul(r, r), polynomial(b, r, rest_of_more_f32), lost);
  q = b.CreateFAdd(q, first);
  Value* scale = from_bits(b, b.CreateShl(bits(b, shifted), format.significand));
  // The product alone would be zero where both are small.
  return adds_products(b) ? multiply_add(b, q, scale, scale)
                          : b.CreateFMul(b.CreateFAdd(q, number(x, 1)), scale);
}

// Nearer to 1 / (1 + p), p = high + low: y (2 - y (1 + p)) by its rest 1 - y - y p.
Value* nearer_inverse(Builder& b, Value* y, const Sum& p) {
  Value *one = number(y, 1), *negative = b.CreateFNeg(y);
  Value* rest = b.CreateFSub(multiply_add(b, negative, p.high, one), y);
  return multiply_add(b, y, multiply_add(b, negative, p.low, rest), y);
}
// The same of f32 where no products are added in one rounding: they are made of halves that are
// exact, after y and p have been moved to where none is subnormal.
Value* nearer_inverse_by_halves(Builder& b, Value* y, const Sum& p) {
  const auto upper = [&](Value* x) { return from_bits(b, b.CreateAnd(bits(b, x), 0xfffff000)); };
  const auto moved = [&](Value* x, double factor) { return b.CreateFMul(x, number(x, factor)); };
  Value *large = moved(y, 0x1p60), *small = moved(p.high, 0x1p-60);
  Value *large_high = upper(large), *small_high = upper(small);
  Value* less = b.CreateFAdd(b.CreateFMul(large_high, b.CreateFSub(small, small_high)),
                             b.CreateFMul(b.CreateFSub(large, large_high), small));
  Value* rest = b.CreateFSub(number(y, 1), b.CreateFMul(large_high, small_high));
  rest = b.CreateFSub(b.CreateFSub(rest, y), b.CreateFAdd(less, b.CreateFMul(y, p.low)));
  return moved(b.CreateFAdd(b.CreateFMul(large, rest), large), 0x1p-60);
}

}  // namespace

Value* math_exp(Builder& b, Value* x) {
  if (x->getType()->isFloatTy()) return looks_up_16(b) ? math_exp_by_table(b, x) : exp_of_f32(b, x);
  const Reduced e = reduced(b, x);
  const Sum one = sum_of(b, number(x, 1), e.r);
  Value* out = b.CreateFAdd(one.high, multiply_add(b, e.square, e.rest, one.low));
  out = scaled(b, out, e.n);
  const Range& range = range_of(x);
  out = b.CreateSelect(b.CreateFCmpOLT(x, number(x, range.least)), number(x, 0), out);
  // Infinity, or the NaN that x is.
  Value* beyond = b.CreateFMul(x, number(x, infinity));
  return b.CreateSelect(b.CreateFCmpOLE(x, number(x, range.most)), out, beyond);
}

// The least power that is no number may be infinite or NaN before it is chosen from.
Value* math_exp_of_sum(Builder& b, Value* high, Value* low) {
  const Reduced e = reduced(b, high, low);
  const Sum one = sum_of(b, number(high, 1), e.r);
  Value* out = b.CreateFAdd(one.high, multiply_add(b, e.square, e.rest, one.low));
  out = scaled(b, out, e.n);
  const Range& range = range_of(high);
  out = b.CreateSelect(b.CreateFCmpOLT(high, number(high, range.least)), number(high, 0), out);
  Value* is_number = b.CreateAnd(b.CreateFCmpOLE(high, number(high, range.most)),
                                 b.CreateFCmpOLT(out, number(high, infinity)));
  return b.CreateSelect(is_number, out, b.CreateFMul(high, number(high, infinity)));
}

// 2 (2^(n-1) p + (2^(n-1) - 1/2)), for 2^n may be no number where the result is one.
Value* math_expm1(Builder& b, Value* x) {
  const auto significand = static_cast<int>(format_of(x).significand);
  Value* inside = clamp(b, x, -significand, range_of(x).most + 0.25);
  const Reduced e = reduced(b, inside);
  Sum p = sum_of(b, e);
  p.low = b.CreateFAdd(p.low, e.lost);
  Value* half = number(x, 0.5);
  Value* scale = scaled(b, half, e.n);
  Value* less = b.CreateFSub(scale, half);
  Value* rest = b.CreateFSub(b.CreateFNeg(half), b.CreateFSub(less, scale));
  const Sum sum = sum_of(b, less, b.CreateFMul(scale, p.high));
  Value* low = b.CreateFAdd(multiply_add(b, scale, p.low, sum.low), rest);
  Value* out = b.CreateFMul(b.CreateFAdd(sum.high, low), number(x, 2));
  // x itself, from whose half a product would be no normal number; subnormal ones become zeros.
  const double end_of_identity = std::ldexp(1.0, -significand - 2);
  Value* same = multiply_add(b, x, number(x, 0x1p-70), x);
  return b.CreateSelect(b.CreateFCmpOLT(absolute(b, x), number(x, end_of_identity)), same, out);
}

// 1 in f32 from 9.02 on, in f64 from 19.1 on.
Value* math_tanh(Builder& b, Value* x) {
  const bool single = x->getType()->isFloatTy();
  if (single && looks_up_16(b)) return math_tanh_by_tables(b, x);
  Value* magnitude = at_most(b, absolute(b, x), single ? 10 : 20);
  return give_sign(b, single ? tanh_of_f32(b, magnitude) : tanh_of_f64(b, magnitude), x);
}

// y = 1 / (1 + p), p = e^-x as a sum of two numbers, and one step of Newton's method, whose rest
// 1 - y - y p is two products and a difference that is exact where y is near to p y. Below `least`
// p may be no number, and beyond `end` the result is 1.
Value* math_logistic(Builder& b, Value* x) {
  if (x->getType()->isFloatTy() && looks_up_16(b)) return math_logistic_by_table(b, x);
  const double end = x->getType()->isFloatTy() ? 88 : 709;
  const Reduced e = reduced(b, b.CreateFNeg(clamp(b, x, -end, end)));
  Value* one = number(x, 1);
  const Sum first = sum_of(b, one, e.r);
  const Sum factor = sum_of(b, first.high, multiply_add(b, e.square, e.rest, first.low));
  Value* scale = scaled(b, one, e.n);
  Value* power = b.CreateFMul(scale, factor.high);
  Value* inverse = b.CreateFDiv(one, b.CreateFAdd(one, power));
  const Sum p = {power, b.CreateFMul(scale, factor.low)};
  return adds_products(b) || !x->getType()->isFloatTy() ? nearer_inverse(b, inverse, p)
                                                        : nearer_inverse_by_halves(b, inverse, p);
}

}  // namespace hilo

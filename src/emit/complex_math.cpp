#include "emit/complex_math.h"

#include <algorithm>

#include "emit/math.h"
#include "emit/select_to_branch.h"

namespace hilo::complex_math {
namespace {

using llvm::Value;
using namespace real_parts;

// Beyond it e^x is infinite or zero in f32 whatever it is multiplied by, but none in double.
constexpr double end_of_exponents = 700;
constexpr double min_normal = std::numeric_limits<double>::min();
// Parts of quotients that take the fast path are zero or lie between this and its inverse: no step
// of theirs comes near to the ends of doubles. Their divisors are no smaller than the second.
constexpr double fast_path_limit = 0x1p300, min_fast_path_divisor = 0x1p-52;

Value* is_finite(Builder& b, Value* x) {
  return b.CreateFCmpOLT(absolute(b, x), number(b, infinity));
}
Value* is_infinite(Builder& b, Value* x) {
  return b.CreateFCmpOEQ(absolute(b, x), number(b, infinity));
}
Value* is_zero(Builder& b, Value* x) { return b.CreateFCmpOEQ(x, number(b, 0)); }
Value* is_any_infinite(Builder& b, Complex x) {
  return b.CreateOr(is_infinite(b, x.real), is_infinite(b, x.imaginary));
}
// The zero that x is or, being subnormal, is taken for, with its sign.
Value* zero_of(Builder& b, Value* x) { return copy_sign(b, number(b, 0), x); }
// `otherwise` but of a zero that zero: e^x, sinh x and others are real where x is.
Value* unless_zero(Builder& b, Value* x, Value* otherwise) {
  return b.CreateSelect(is_zero(b, x), zero_of(b, x), otherwise);
}
Value* bounded(Builder& b, Value* x, double end) { return clamp(b, x, -end, end); }
Value* square(Builder& b, Value* x) { return b.CreateFMul(x, x); }
// Whether an angle is no number beside an infinite part, which then alone says what results.
Value* is_lost_angle(Builder& b, Value* beside, Value* angle) {
  return b.CreateAnd(is_infinite(b, beside), b.CreateNot(is_finite(b, angle)));
}

struct Hyperbolic {
  Value *sine, *cosine;
};

// With m = e^|x| - 1: (m + m / (m + 1)) / 2 and 1 + (m - m / (m + 1)) / 2, where nothing cancels.
Hyperbolic hyperbolic_of(Builder& b, Value* x) {
  Value* m = math_expm1(b, absolute(b, x));
  Value* part = b.CreateFDiv(m, b.CreateFAdd(m, number(b, 1)));
  Value* sine = half_of(b, b.CreateFAdd(m, part));
  return {copy_sign(b, sine, x),
          multiply_add(b, b.CreateFSub(m, part), number(b, 0.5), number(b, 1))};
}

// |x|^2 as a sum of two numbers, exactly of f32: their products have no more bits than a double.
struct Size {
  Value *sum, *lost;
};
Size squared_size(Builder& b, Complex x) {
  Value *first = square(b, x.real), *second = square(b, x.imaginary);
  Value* is_second = b.CreateFCmpOGT(second, first);
  Value* more = b.CreateSelect(is_second, second, first);
  Value* less = b.CreateSelect(is_second, first, second);
  Value* sum = b.CreateFAdd(more, less);
  return {sum, b.CreateFSub(less, b.CreateFSub(sum, more))};
}

Complex logarithm_of(Builder& b, const Size& size, Complex x, Value* angle) {
  Value* real = half_of(b, math_log_of_sum(b, size.sum, size.lost));
  return {b.CreateSelect(is_any_infinite(b, x), number(b, infinity), real), angle};
}

// Smith's quotient. What lies across y's larger part is multiplied by the ratio of y's parts, or,
// where that vanishes and results are to be exact, by the smaller part after the division.
Complex smith_quotient(Builder& b, Complex x, Complex y, bool is_exact) {
  Value* steep = b.CreateFCmpOLT(absolute(b, y.real), absolute(b, y.imaginary));
  Value* more = b.CreateSelect(steep, y.imaginary, y.real);
  Value* less = b.CreateSelect(steep, y.real, y.imaginary);
  Value* across = b.CreateSelect(steep, x.real, x.imaginary);
  Value* along = b.CreateSelect(steep, x.imaginary, x.real);
  Value* ratio = b.CreateFDiv(less, more);
  Value* below = b.CreateFAdd(b.CreateFMul(less, ratio), more);
  Value* vanishes = b.CreateFCmpULE(absolute(b, ratio), number(b, min_normal));
  const auto times_ratio = [&](Value* part) {
    Value* product = b.CreateFMul(part, ratio);
    if (!is_exact) return product;
    return b.CreateSelect(vanishes, b.CreateFMul(less, b.CreateFDiv(part, more)), product);
  };
  Value *real = b.CreateFAdd(times_ratio(across), along), *other = times_ratio(along);
  Value* imaginary =
      b.CreateSelect(steep, b.CreateFSub(other, across), b.CreateFSub(across, other));
  return {b.CreateFDiv(real, below), b.CreateFDiv(imaginary, below)};
}

Complex scaled(Builder& b, Value* factor, Complex x) {
  return {b.CreateFMul(factor, x.real), b.CreateFMul(factor, x.imaginary)};
}

// Infinite parts as 1 and others as 0, with their signs.
Complex limits_of(Builder& b, Complex x) {
  const auto limit = [&](Value* part) {
    return copy_sign(b, b.CreateSelect(is_infinite(b, part), number(b, 1), number(b, 0)), part);
  };
  return {limit(x.real), limit(x.imaginary)};
}

// x times the conjugate of y.
Complex times_conjugate(Builder& b, Complex x, Complex y) {
  return {b.CreateFAdd(b.CreateFMul(x.real, y.real), b.CreateFMul(x.imaginary, y.imaginary)),
          b.CreateFSub(b.CreateFMul(x.imaginary, y.real), b.CreateFMul(x.real, y.imaginary))};
}

// What C's Annex G says of zeros and infinities where both parts would be NaN.
Complex with_edges(Builder& b, Complex x, Complex y, Complex quotient) {
  const auto both_finite = [&](Complex z) {
    return b.CreateAnd(is_finite(b, z.real), is_finite(b, z.imaginary));
  };
  Value* is_nan = b.CreateAnd(b.CreateFCmpUNO(quotient.real, quotient.real),
                              b.CreateFCmpUNO(quotient.imaginary, quotient.imaginary));
  Value* by_zero = b.CreateAnd(is_zero(b, y.real), is_zero(b, y.imaginary));
  Value* is_known =
      b.CreateOr(b.CreateFCmpORD(x.real, x.real), b.CreateFCmpORD(x.imaginary, x.imaginary));
  Complex out =
      select_parts(b, b.CreateAnd(is_any_infinite(b, y), both_finite(x)),
                   scaled(b, number(b, 0), times_conjugate(b, x, limits_of(b, y))), quotient);
  out = select_parts(b, b.CreateAnd(is_any_infinite(b, x), both_finite(y)),
                     scaled(b, number(b, infinity), times_conjugate(b, limits_of(b, x), y)), out);
  out = select_parts(b, b.CreateAnd(by_zero, is_known),
                     scaled(b, copy_sign(b, number(b, infinity), y.real), x), out);
  return select_parts(b, is_nan, out, quotient);
}

// Scaled first where the divisor is very large or small, or a part of x is too small.
Complex quotient_of_any(Builder& b, Complex x, Complex y) {
  constexpr double large = std::numeric_limits<double>::max() / 2,
                   small = std::numeric_limits<double>::epsilon();
  const auto more_of = [&](Complex z) {
    Value *real = absolute(b, z.real), *imaginary = absolute(b, z.imaginary);
    return b.CreateSelect(b.CreateFCmpOLT(real, imaginary), imaginary, real);
  };
  Value* is_large = b.CreateFCmpOGE(more_of(y), number(b, large));
  Value* factor = b.CreateSelect(is_large, number(b, 0.5), number(b, 1));
  x = scaled(b, factor, x);
  y = scaled(b, factor, y);
  const auto is_less = [&](Value* part, double limit) {
    return b.CreateFCmpOLT(absolute(b, part), number(b, limit));
  };
  const auto is_alone = [&](Value* part, Value* other) {
    return b.CreateAnd(is_less(part, min_normal), is_less(other, large * small));
  };
  Value* divisor = more_of(y);
  Value* may_grow =
      b.CreateAnd(is_less(divisor, large * small),
                  b.CreateOr(is_alone(x.real, x.imaginary), is_alone(x.imaginary, x.real)));
  Value* grows = b.CreateOr(is_less(divisor, small), may_grow);
  factor = b.CreateSelect(grows, number(b, 1 / small), number(b, 1));
  x = scaled(b, factor, x);
  y = scaled(b, factor, y);
  return with_edges(b, x, y, smith_quotient(b, x, y, true));
}

Complex swapped(Complex x) { return {x.imaginary, x.real}; }

}  // namespace

Complex exponential(Builder& b, Complex x) {
  Value* size = math_exp(b, bounded(b, x.real, end_of_exponents));
  Value* lost = is_lost_angle(b, x.real, x.imaginary);
  Value* vanishes = b.CreateAnd(lost, b.CreateFCmpOLT(x.real, number(b, 0)));
  Value* real = b.CreateSelect(lost, number(b, 1), math_cos(b, x.imaginary));
  Value* imaginary = b.CreateSelect(vanishes, zero_of(b, x.imaginary), math_sin(b, x.imaginary));
  imaginary = b.CreateFMul(size, imaginary);
  return {b.CreateFMul(size, real), unless_zero(b, x.imaginary, imaginary)};
}

// With m = e^a - 1 and the sine s and cosine c of half the angle: m - 2 (m + 1) s^2 and
// 2 (m + 1) s c.
Complex exponential_minus_one(Builder& b, Complex x) {
  Value* half = half_of(b, x.imaginary);
  Value* m = math_expm1(b, bounded(b, x.real, end_of_exponents));
  Value* sine = math_sin(b, half);
  Value* grown = b.CreateFMul(twice(b, sine), b.CreateFAdd(m, number(b, 1)));
  Value* imaginary = b.CreateFMul(grown, math_cos(b, half));
  return {multiply_add(b, b.CreateFNeg(grown), sine, m), unless_zero(b, x.imaginary, imaginary)};
}

Complex logarithm(Builder& b, Complex x) {
  return logarithm_of(b, squared_size(b, x), x, math_atan2(b, x.imaginary, x.real));
}

// |1 + x|^2, and near to 0 1 + (2a + a^2 + b^2), as a sum of two numbers.
Complex log_plus_one(Builder& b, Complex x) {
  const Complex moved = {b.CreateFAdd(x.real, number(b, 1)), x.imaginary};
  const Size far = squared_size(b, moved);
  Value* more = multiply_add(b, x.real, x.real, twice(b, x.real));
  more = multiply_add(b, x.imaginary, x.imaginary, more);
  Value* sum = b.CreateFAdd(number(b, 1), more);
  Value* lost = b.CreateFSub(more, b.CreateFSub(sum, number(b, 1)));
  Value* near = b.CreateAnd(b.CreateFCmpOLT(absolute(b, x.real), number(b, 0.5)),
                            b.CreateFCmpOLT(absolute(b, x.imaginary), number(b, 0.5)));
  const Size size = {b.CreateSelect(near, sum, far.sum), b.CreateSelect(near, lost, far.lost)};
  return logarithm_of(b, size, x, math_atan2(b, x.imaginary, moved.real));
}

// 1 / (1 + e^-x) = (e^a + e^ib) / (e^a |1 + e^-x|^2) with m = e^a - 1 and the sine s and cosine c
// of half the angle: e^a + e^ib = m + 2c^2 + 2isc, and e^a |1 + e^-x|^2 = m^2 / e^a + 4c^2.
Complex logistic(Builder& b, Complex x) {
  Value* angle =
      b.CreateSelect(is_lost_angle(b, x.real, x.imaginary), number(b, 0), half_of(b, x.imaginary));
  Value* power = math_exp(b, bounded(b, x.real, 100));
  Value* m = b.CreateFSub(power, number(b, 1));
  Value *sine = math_sin(b, angle), *cosine = math_cos(b, angle);
  Value *beside = twice(b, cosine), *square_beside = square(b, beside);
  Value* below = multiply_add(b, m, m, b.CreateFMul(power, square_beside));
  Value* factor = b.CreateFDiv(power, below);
  Value* imaginary = b.CreateFMul(b.CreateFMul(beside, sine), factor);
  Value* real = multiply_add(b, square_beside, number(b, 0.5), m);
  return {b.CreateFMul(real, factor), imaginary};
}

// The larger part is sqrt((|x| + |a|) / 2), the other one |b| / 2 of that.
Complex square_root(Builder& b, Complex x) {
  Value* squares = multiply_add(b, x.real, x.real, square(b, x.imaginary));
  Value* length = b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, squares);
  length = b.CreateSelect(is_any_infinite(b, x), number(b, infinity), length);
  Value* large = half_of(b, b.CreateFAdd(length, absolute(b, x.real)));
  large = b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, large);
  Value* small = b.CreateFDiv(absolute(b, x.imaginary), twice(b, large));
  small = b.CreateSelect(is_zero(b, large), number(b, 0), small);
  Value* left = b.CreateFCmpOLT(x.real, number(b, 0));
  Value* upright = is_infinite(b, x.imaginary);
  Value* real = b.CreateSelect(left, small, large);
  Value* imaginary = b.CreateSelect(left, large, small);
  real = b.CreateSelect(upright, number(b, infinity), real);
  imaginary = b.CreateSelect(upright, number(b, infinity), imaginary);
  return {real, copy_sign(b, imaginary, x.imaginary)};
}

// sinh a cos b + i cosh a sin b
Complex hyperbolic_sine(Builder& b, Complex x) {
  const Hyperbolic h = hyperbolic_of(b, bounded(b, x.real, end_of_exponents));
  Value* is_known = b.CreateOr(is_zero(b, x.real), is_infinite(b, x.real));
  is_known = b.CreateAnd(is_known, b.CreateNot(is_finite(b, x.imaginary)));
  Value* real = b.CreateFMul(h.sine, math_cos(b, x.imaginary));
  Value* imaginary = b.CreateFMul(h.cosine, math_sin(b, x.imaginary));
  Value* known = b.CreateSelect(is_zero(b, x.real), zero_of(b, x.real), number(b, infinity));
  return {b.CreateSelect(is_known, known, real), unless_zero(b, x.imaginary, imaginary)};
}

// cosh a cos b + i sinh a sin b
Complex hyperbolic_cosine(Builder& b, Complex x) {
  const Hyperbolic h = hyperbolic_of(b, bounded(b, x.real, end_of_exponents));
  Value* lost = is_lost_angle(b, x.real, x.imaginary);
  Value* real = b.CreateFMul(h.cosine, math_cos(b, x.imaginary));
  Value* imaginary = b.CreateFMul(h.sine, math_sin(b, x.imaginary));
  Value* is_known = b.CreateOr(is_zero(b, x.real), is_zero(b, x.imaginary));
  is_known = b.CreateAnd(is_known, b.CreateFCmpUNO(imaginary, imaginary));
  Value* zero = b.CreateSelect(is_zero(b, x.real), number(b, 0), zero_of(b, x.imaginary));
  return {b.CreateSelect(lost, number(b, infinity), real),
          b.CreateSelect(is_known, zero, imaginary)};
}

// (sinh a cosh a + i sin b cos b) / (sinh^2 a + cos^2 b); of the bound it is 1 and nearly 0.
Complex hyperbolic_tangent(Builder& b, Complex x) {
  const Hyperbolic h = hyperbolic_of(b, bounded(b, x.real, 50));
  Value* lost = is_lost_angle(b, x.real, x.imaginary);
  Value* angle = b.CreateSelect(lost, zero_of(b, x.imaginary), x.imaginary);
  Value *sine = math_sin(b, angle), *cosine = math_cos(b, angle);
  Value* below = multiply_add(b, h.sine, h.sine, square(b, cosine));
  Value* inverse = b.CreateFDiv(number(b, 1), below);
  Value* real = b.CreateFMul(b.CreateFMul(h.sine, h.cosine), inverse);
  Value* imaginary = b.CreateFMul(b.CreateFMul(sine, cosine), inverse);
  return {unless_zero(b, x.real, real), unless_zero(b, x.imaginary, imaginary)};
}

// sin x = -i sinh ix, tan x = -i tanh ix, cos x = cosh ix
Complex sine(Builder& b, Complex x) { return swapped(hyperbolic_sine(b, swapped(x))); }
Complex tangent(Builder& b, Complex x) { return swapped(hyperbolic_tangent(b, swapped(x))); }
Complex cosine(Builder& b, Complex x) {
  return hyperbolic_cosine(b, {b.CreateFNeg(x.imaginary), x.real});
}

// The angle is multiplied before its sine is taken, so that it must be nearer.
Complex power(Builder& b, Complex x, Complex y) {
  const Complex log =
      logarithm_of(b, squared_size(b, x), x, math_atan2_nearer(b, x.imaginary, x.real));
  const Complex product = {
      multiply_add(b, y.real, log.real, b.CreateFNeg(b.CreateFMul(y.imaginary, log.imaginary))),
      multiply_add(b, y.real, log.imaginary, b.CreateFMul(y.imaginary, log.real))};
  return exponential(b, product);
}

Complex quotient(Builder& b, Complex x, Complex y) {
  const auto is_far = [&](Value* part) {
    part = absolute(b, part);
    Value* is_small = b.CreateAnd(b.CreateFCmpOLT(part, number(b, 1 / fast_path_limit)),
                                  b.CreateNot(is_zero(b, part)));
    return b.CreateOr(is_small, b.CreateFCmpUGT(part, number(b, fast_path_limit)));
  };
  Value* is_general = b.CreateOr(b.CreateOr(is_far(x.real), is_far(x.imaginary)),
                                 b.CreateOr(is_far(y.real), is_far(y.imaginary)));
  const auto is_small = [&](Value* part) {
    return b.CreateFCmpOLT(absolute(b, part), number(b, min_fast_path_divisor));
  };
  is_general = b.CreateOr(is_general, b.CreateAnd(is_small(y.real), is_small(y.imaginary)));
  const Complex fast = smith_quotient(b, x, y, false), general = quotient_of_any(b, x, y);
  return {unlikely_select(b, is_general, general.real, fast.real),
          unlikely_select(b, is_general, general.imaginary, fast.imaginary)};
}

Function function_of(std::string_view name) {
  struct Row {
    std::string_view name;
    Function function;
  };
  static constexpr Row rows[] = {{"cexp", exponential},
                                 {"clog", logarithm},
                                 {"csqrt", square_root},
                                 {"csin", sine},
                                 {"ccos", cosine},
                                 {"ctan", tangent},
                                 {"csinh", hyperbolic_sine},
                                 {"ccosh", hyperbolic_cosine},
                                 {"ctanh", hyperbolic_tangent}};
  const auto* found = std::ranges::find(rows, name, &Row::name);
  return found == std::end(rows) ? nullptr : found->function;
}

}  // namespace hilo::complex_math

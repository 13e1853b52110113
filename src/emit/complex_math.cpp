#include "emit/complex_math.h"

#include <algorithm>

#include "emit/math.h"

namespace hilo::complex_math {
namespace {

using llvm::Value;
using namespace real_parts;

// Beyond it e^x is infinite or zero in f32 whatever it is multiplied by, but none in double.
constexpr double end_of_exponents = 700;

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

Complex swapped(Complex x) { return {x.imaginary, x.real}; }

}  // namespace

Complex exponential(Builder& b, Complex x) {
  Value* size = math_exp(b, bounded(b, x.real, end_of_exponents));
  Value* lost = is_lost_angle(b, x.real, x.imaginary);
  Value* vanishes = b.CreateAnd(lost, b.CreateFCmpOLT(x.real, number(b, 0)));
  Value* real = b.CreateSelect(lost, number(b, 1), math_cos(b, x.imaginary));
  Value* imaginary = b.CreateSelect(vanishes, number(b, 0), math_sin(b, x.imaginary));
  imaginary = b.CreateFMul(size, imaginary);
  return {b.CreateFMul(size, real),
          b.CreateSelect(is_zero(b, x.imaginary), x.imaginary, imaginary)};
}

// With m = e^a - 1 and the sine s and cosine c of half the angle: m - 2 (m + 1) s^2 and
// 2 (m + 1) s c.
Complex exponential_minus_one(Builder& b, Complex x) {
  Value* half = half_of(b, x.imaginary);
  Value* m = math_expm1(b, bounded(b, x.real, end_of_exponents));
  Value* sine = math_sin(b, half);
  Value* grown = b.CreateFMul(twice(b, sine), b.CreateFAdd(m, number(b, 1)));
  Value* imaginary = b.CreateFMul(grown, math_cos(b, half));
  return {multiply_add(b, b.CreateFNeg(grown), sine, m),
          b.CreateSelect(is_zero(b, x.imaginary), x.imaginary, imaginary)};
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
  return {b.CreateSelect(is_known, absolute(b, x.real), real),
          b.CreateSelect(is_zero(b, x.imaginary), x.imaginary, imaginary)};
}

// cosh a cos b + i sinh a sin b
Complex hyperbolic_cosine(Builder& b, Complex x) {
  const Hyperbolic h = hyperbolic_of(b, bounded(b, x.real, end_of_exponents));
  Value* lost = is_lost_angle(b, x.real, x.imaginary);
  Value* real = b.CreateFMul(h.cosine, math_cos(b, x.imaginary));
  Value* imaginary = b.CreateFMul(h.sine, math_sin(b, x.imaginary));
  Value* is_known = b.CreateOr(is_zero(b, x.real), is_zero(b, x.imaginary));
  is_known = b.CreateAnd(is_known, b.CreateFCmpUNO(imaginary, imaginary));
  return {b.CreateSelect(lost, number(b, infinity), real),
          b.CreateSelect(is_known, number(b, 0), imaginary)};
}

// (sinh a cosh a + i sin b cos b) / (sinh^2 a + cos^2 b); of the bound it is 1 and nearly 0.
Complex hyperbolic_tangent(Builder& b, Complex x) {
  const Hyperbolic h = hyperbolic_of(b, bounded(b, x.real, 50));
  Value* angle = b.CreateSelect(is_lost_angle(b, x.real, x.imaginary), number(b, 0), x.imaginary);
  Value *sine = math_sin(b, angle), *cosine = math_cos(b, angle);
  Value* below = multiply_add(b, h.sine, h.sine, square(b, cosine));
  Value* inverse = b.CreateFDiv(number(b, 1), below);
  Value* real = b.CreateFMul(b.CreateFMul(h.sine, h.cosine), inverse);
  Value* imaginary = b.CreateFMul(b.CreateFMul(sine, cosine), inverse);
  return {b.CreateSelect(is_zero(b, x.real), x.real, real),
          b.CreateSelect(is_zero(b, x.imaginary), x.imaginary, imaginary)};
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

// Functions of CHLO that HLO has no op for, as XLA's client library writes them.
#include <cmath>
#include <limits>
#include <numbers>

#include "wire/stablehlo/handlers.h"

namespace hilo::mlir {
namespace {

// Arithmetic on arrays of one shape. The first error stays.
class Formula {
 public:
  Formula(Step& step, InstructionId x) : step_(step), shape_(step.module().shape(x)) {}
  InstructionId constant(double value) {
    const auto wide = step_.constant(Literal::scalar(value));
    const auto typed = wide ? step_.convert(*wide, shape_.type) : wide;
    return keep(typed ? step_.like(*typed, shape_) : typed);
  }
  template <class... Ids>
  InstructionId op(Op op, Ids... operands) {
    if (error_) return {0};
    return keep(step_.add(op, {operands...}));
  }
  InstructionId compare(ComparisonDirection direction, InstructionId a, InstructionId b) {
    if (error_) return {0};
    return keep(step_.add(Op::Compare, {a, b}, CompareAttributes{direction, {}, {}}));
  }
  InstructionId add(InstructionId a, InstructionId b) { return op(Op::Add, a, b); }
  InstructionId add(InstructionId a, double b) { return add(a, constant(b)); }
  InstructionId subtract(InstructionId a, InstructionId b) { return op(Op::Subtract, a, b); }
  InstructionId multiply(InstructionId a, InstructionId b) { return op(Op::Multiply, a, b); }
  InstructionId multiply(InstructionId a, double b) { return multiply(a, constant(b)); }
  InstructionId divide(InstructionId a, InstructionId b) { return op(Op::Divide, a, b); }
  InstructionId less(InstructionId a, double b) {
    return compare(ComparisonDirection::Lt, a, constant(b));
  }
  InstructionId select(InstructionId choice, InstructionId a, InstructionId b) {
    return op(Op::Select, choice, a, b);
  }
  // Coefficients from the highest power down.
  InstructionId polynomial(InstructionId x, std::span<const double> coefficients) {
    InstructionId out = constant(coefficients[0]);
    for (const double one : coefficients.subspan(1)) out = add(multiply(out, x), one);
    return out;
  }
  // The result in the type of the op's operand.
  Result<void> give(InstructionId value, ElementType type) {
    if (error_) return std::unexpected(*error_);
    HILO_TRY(const InstructionId typed, step_.convert(value, type));
    return step_.give(typed);
  }

 private:
  InstructionId keep(const Result<InstructionId>& made) {
    if (made) return *made;
    if (!error_) error_ = made.error();
    return {0};
  }
  Step& step_;
  Shape shape_;
  std::optional<Error> error_;
};

// The operand, narrow floats as f32.
Result<InstructionId> wide_operand(Step& step) {
  HILO_DO(step.need_array(0));
  const ElementType type = step.shape(0).type;
  if (!is_floating(type)) return step.misfit("expected floats, found {}", text_of(type));
  return bits_of(type) < 32 ? step.convert(step.operands[0], ElementType::F32)
                            : Result<InstructionId>(step.operands[0]);
}

constexpr double lanczos_g = 7, lanczos_base = 0.99999999999980993227684700473478;
constexpr double lanczos[] = {
    676.520368121885098567009190444019, -1259.13921672240287047156078755283,
    771.3234287776530788486528258894,   -176.61502916214059906584551354,
    12.507343278686904814458936853,     -0.13857109526572011689554707,
    9.984369578019570859563e-6,         1.50563273514931155834e-7};

// What lgamma and digamma share: the sums over z = x - 1, or -x below 1/2.
struct Lanczos {
  InstructionId reflects, z, sum, slope, t, log_t;
};
Lanczos lanczos_of(Formula& f, InstructionId x) {
  Lanczos out;
  out.reflects = f.less(x, 0.5);
  out.z = f.select(out.reflects, f.op(Op::Negate, x), f.add(x, -1));
  out.sum = f.constant(lanczos_base);
  out.slope = f.constant(0);
  for (size_t i = 0; i < std::size(lanczos); ++i) {
    const InstructionId at = f.add(out.z, static_cast<double>(i) + 1);
    const InstructionId term = f.divide(f.constant(lanczos[i]), at);
    out.sum = f.add(out.sum, term);
    out.slope = f.subtract(out.slope, f.divide(term, at));
  }
  out.t = f.add(out.z, lanczos_g + 0.5);
  const InstructionId part = f.multiply(out.z, 1 / (lanczos_g + 0.5));
  out.log_t = f.add(f.op(Op::LogPlusOne, part), std::log(lanczos_g + 0.5));
  return out;
}

}  // namespace

Result<void> convert_lgamma(Step& step) {
  HILO_TRY(const InstructionId x, wide_operand(step));
  Formula f(step, x);
  const Lanczos l = lanczos_of(f, x);
  const InstructionId power =
      f.multiply(f.subtract(f.add(l.z, 0.5), f.divide(l.t, l.log_t)), l.log_t);
  const double log_root = std::log(std::sqrt(2 * std::numbers::pi));
  const InstructionId log_y = f.add(f.add(power, log_root), f.op(Op::Log, l.sum));
  // log(pi / |sin(pi x)|) - log_y, of x's distance to the nearest integer.
  const InstructionId size = f.op(Op::Abs, x);
  const InstructionId fraction = f.subtract(size, f.op(Op::Floor, size));
  const InstructionId rest = f.subtract(f.constant(1), fraction);
  const InstructionId distance = f.op(Op::Minimum, fraction, rest);
  const InstructionId log_sine =
      f.op(Op::Log, f.op(Op::Sine, f.multiply(distance, std::numbers::pi)));
  const InstructionId reflected =
      f.subtract(f.subtract(f.constant(std::log(std::numbers::pi)), log_sine), log_y);
  const InstructionId below =
      f.select(f.op(Op::IsFinite, log_sine), reflected, f.op(Op::Negate, log_sine));
  const InstructionId value = f.select(l.reflects, below, log_y);
  const InstructionId infinity = f.constant(std::numeric_limits<double>::infinity());
  const InstructionId is_infinite = f.compare(ComparisonDirection::Eq, size, infinity);
  return f.give(f.select(is_infinite, infinity, value), step.shape(0).type);
}

Result<void> convert_digamma(Step& step) {
  HILO_TRY(const InstructionId x, wide_operand(step));
  Formula f(step, x);
  const Lanczos l = lanczos_of(f, x);
  const InstructionId y =
      f.subtract(f.add(l.log_t, f.divide(l.slope, l.sum)), f.divide(f.constant(lanczos_g), l.t));
  const InstructionId nearest = f.op(Op::Abs, f.op(Op::Floor, f.add(x, 0.5)));
  const InstructionId angle = f.multiply(f.add(x, nearest), std::numbers::pi);
  const InstructionId slope =
      f.divide(f.multiply(f.op(Op::Cosine, angle), std::numbers::pi), f.op(Op::Sine, angle));
  const InstructionId value = f.select(l.reflects, f.subtract(y, slope), y);
  const InstructionId is_whole = f.compare(ComparisonDirection::Eq, x, f.op(Op::Floor, x));
  const InstructionId is_pole =
      f.op(Op::And, is_whole, f.compare(ComparisonDirection::Le, x, f.constant(0)));
  const InstructionId nan = f.constant(std::numeric_limits<double>::quiet_NaN());
  return f.give(f.select(is_pole, nan, value), step.shape(0).type);
}

// Giles, Approximating the erfinv function: single precision.
Result<void> convert_erf_inv(Step& step) {
  constexpr double near[] = {2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
                             -4.39150654e-06, 0.00021858087,  -0.00125372503,
                             -0.00417768164,  0.246640727,    1.50140941};
  constexpr double far[] = {-0.000200214257, 0.000100950558, 0.00134934322,
                            -0.00367342844,  0.00573950773,  -0.0076224613,
                            0.00943887047,   1.00167406,     2.83297682};
  HILO_TRY(const InstructionId x, wide_operand(step));
  if (step.shape(0).type == ElementType::F64) return fail(ErrorKind::Unsupported, "erf_inv of f64");
  Formula f(step, x);
  const InstructionId w =
      f.op(Op::Negate, f.op(Op::LogPlusOne, f.op(Op::Negate, f.multiply(x, x))));
  const InstructionId is_near = f.less(w, 5);
  const InstructionId near_value = f.polynomial(f.add(w, -2.5), near);
  const InstructionId far_value = f.polynomial(f.add(f.op(Op::Sqrt, w), -3), far);
  const InstructionId value = f.multiply(f.select(is_near, near_value, far_value), x);
  const InstructionId infinity = f.constant(std::numeric_limits<double>::infinity());
  const InstructionId is_end = f.compare(ComparisonDirection::Eq, f.op(Op::Abs, x), f.constant(1));
  return f.give(f.select(is_end, f.multiply(x, infinity), value), step.shape(0).type);
}

// 1 - erf(x) near 0; else exp(-x^2) / |x| times a polynomial of 1 / x^2, as Cephes has it for
// single precision.
Result<void> convert_erfc(Step& step) {
  constexpr double middle[] = {2.326819970068386e-2,  -1.387039388740657e-1, 3.687424674597105e-1,
                               -5.824733027278666e-1, 6.210004621745983e-1,  -4.944515323274145e-1,
                               3.404879937665872e-1,  -2.741127028184656e-1, 5.638259427386472e-1};
  constexpr double tail[] = {-1.047766399936249e+1, 1.297719955372516e+1,  -7.495518717768503e+0,
                             2.921019019210786e+0,  -1.015265279202700e+0, 4.218463358204948e-1,
                             -2.820767439740514e-1, 5.641895067754075e-1};
  HILO_TRY(const InstructionId x, wide_operand(step));
  if (step.shape(0).type == ElementType::F64) return fail(ErrorKind::Unsupported, "erfc of f64");
  Formula f(step, x);
  const InstructionId size = f.op(Op::Abs, x);
  const InstructionId inverse = f.divide(f.constant(1), size);
  const InstructionId square = f.multiply(inverse, inverse);
  const InstructionId series =
      f.select(f.less(size, 2), f.polynomial(square, middle), f.polynomial(square, tail));
  const InstructionId power = f.op(Op::Exponential, f.op(Op::Negate, f.multiply(x, x)));
  const InstructionId far = f.multiply(f.multiply(power, inverse), series);
  const InstructionId both = f.select(f.less(x, 0), f.subtract(f.constant(2), far), far);
  const InstructionId near = f.subtract(f.constant(1), f.op(Op::Erf, x));
  return f.give(f.select(f.less(size, 1), near, both), step.shape(0).type);
}

Result<void> convert_conj(Step& step) {
  HILO_DO(step.need_array(0));
  if (!is_complex(step.shape(0).type)) return step.give(step.operands[0]);
  HILO_TRY(const InstructionId real, step.add(Op::Real, step.operands));
  HILO_TRY(const InstructionId imag, step.add(Op::Imag, step.operands));
  HILO_TRY(const InstructionId minus, step.add(Op::Negate, {imag}));
  HILO_TRY(const InstructionId value, step.add(Op::Complex, {real, minus}));
  return step.give(value);
}

Result<void> convert_is_inf(Step& step) {
  HILO_TRY(const InstructionId x, wide_operand(step));
  Formula f(step, x);
  const InstructionId infinity = f.constant(std::numeric_limits<double>::infinity());
  return f.give(f.compare(ComparisonDirection::Eq, f.op(Op::Abs, x), infinity), ElementType::Pred);
}

}  // namespace hilo::mlir

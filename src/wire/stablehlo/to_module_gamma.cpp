// The gamma function's logarithm and its derivatives, as XLA's client library writes them.
#include <cmath>
#include <limits>
#include <numbers>

#include "wire/stablehlo/formula.h"

namespace hilo::mlir {
namespace {

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

Result<InstructionId> wide_operand(Step& step, size_t i) {
  HILO_DO(step.need_array(i));
  const ElementType type = step.shape(i).type;
  if (!is_floating(type)) return step.misfit("expected floats, found {}", text_of(type));
  return bits_of(type) < 32 ? step.convert(step.operands[i], ElementType::F32)
                            : Result<InstructionId>(step.operands[i]);
}

InstructionId lgamma(Formula& f, InstructionId x) {
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
  return f.select(f.equal(size, infinity), infinity, value);
}

InstructionId digamma(Formula& f, InstructionId x) {
  const Lanczos l = lanczos_of(f, x);
  const InstructionId y =
      f.subtract(f.add(l.log_t, f.divide(l.slope, l.sum)), f.divide(f.constant(lanczos_g), l.t));
  const InstructionId nearest = f.op(Op::Abs, f.op(Op::Floor, f.add(x, 0.5)));
  const InstructionId angle = f.multiply(f.add(x, nearest), std::numbers::pi);
  const InstructionId slope =
      f.divide(f.multiply(f.op(Op::Cosine, angle), std::numbers::pi), f.op(Op::Sine, angle));
  const InstructionId value = f.select(l.reflects, f.subtract(y, slope), y);
  const InstructionId is_pole = f.op(Op::And, f.is_whole(x), f.not_above(x, 0));
  return f.select(is_pole, f.constant(std::numeric_limits<double>::quiet_NaN()), value);
}

Result<void> convert_lgamma(Step& step) {
  HILO_TRY(const InstructionId x, wide_operand(step));
  Formula f(step, x);
  return f.give(lgamma(f, x), step.shape(0).type);
}

Result<void> convert_digamma(Step& step) {
  HILO_TRY(const InstructionId x, wide_operand(step));
  Formula f(step, x);
  return f.give(digamma(f, x), step.shape(0).type);
}

// Hurwitz's zeta function, the sum of (q + i)^-x over all i >= 0: ten terms, and Euler's and
// Maclaurin's formula for the rest, as Cephes has it; factors are (2k)! / B(2k).
static InstructionId zeta(Formula& f, InstructionId x, InstructionId q) {
  constexpr double factors[] = {12.0,
                                -720.0,
                                30240.0,
                                -1209600.0,
                                47900160.0,
                                -1.8924375803183791606e9,
                                7.47242496e10,
                                -2.950130727918164224e12,
                                1.1646782814350067249e14,
                                -4.5979787224074726105e15,
                                1.8152105401943546773e17,
                                -7.1661652561756670113e18};
  constexpr int terms = 9;
  const InstructionId minus_x = f.op(Op::Negate, x), one = f.constant(1);
  InstructionId sum = f.op(Op::Power, q, minus_x), at = q, power = sum;
  for (int i = 0; i < terms; ++i) {
    at = f.add(at, 1);
    power = f.op(Op::Power, at, minus_x);
    sum = f.add(sum, power);
  }
  sum = f.add(sum, f.divide(f.multiply(power, at), f.subtract(x, one)));
  sum = f.subtract(sum, f.multiply(power, 0.5));
  InstructionId product = one;
  for (size_t i = 0; i < std::size(factors); ++i) {
    const auto k = static_cast<double>(2 * i);
    product = f.multiply(product, f.add(x, k));
    power = f.divide(power, at);
    sum = f.add(sum, f.multiply(f.multiply(product, power), 1 / factors[i]));
    product = f.multiply(product, f.add(x, k + 1));
    power = f.divide(power, at);
  }
  const InstructionId nan = f.constant(std::numeric_limits<double>::quiet_NaN());
  const InstructionId infinity = f.constant(std::numeric_limits<double>::infinity());
  const InstructionId is_even = f.is_whole(f.multiply(x, 0.5));
  const InstructionId pole = f.select(is_even, infinity, nan);
  InstructionId left = f.select(f.is_whole(x), sum, nan);
  left = f.select(f.is_whole(q), pole, left);
  InstructionId out = f.select(f.not_above(q, 0), left, sum);
  out = f.select(f.less(x, 1), nan, out);
  return f.select(f.equal(x, one), infinity, out);
}

Result<void> convert_zeta(Step& step) {
  HILO_TRY(const InstructionId x, wide_operand(step));
  HILO_TRY(const InstructionId q, wide_operand(step, 1));
  Formula f(step, x);
  return f.give(zeta(f, x, q), step.shape(0).type);
}

// The nth derivative of digamma, (-1)^(n+1) n! zeta(n + 1, x).
Result<void> convert_polygamma(Step& step) {
  HILO_TRY(const InstructionId n, wide_operand(step));
  HILO_TRY(const InstructionId x, wide_operand(step, 1));
  Formula f(step, n);
  const InstructionId next = f.add(n, 1);
  const InstructionId size = f.multiply(f.op(Op::Exponential, lgamma(f, next)), zeta(f, next, x));
  const InstructionId is_odd = f.is_whole(f.multiply(next, 0.5));
  InstructionId out = f.select(is_odd, size, f.op(Op::Negate, size));
  out = f.select(f.equal(n, f.constant(0)), digamma(f, x), out);
  const InstructionId is_order = f.op(Op::And, f.is_whole(n), f.op(Op::Not, f.less(n, 0)));
  const InstructionId nan = f.constant(std::numeric_limits<double>::quiet_NaN());
  return f.give(f.select(is_order, out, nan), step.shape(0).type);
}

}  // namespace hilo::mlir

// Elementwise ops on c64 and c128, computed in c128.
#include <cmath>
#include <complex>

#include "eval/kernel.h"
#include "eval/without_subnormal.h"

namespace hilo {
namespace {

using C = std::complex<double>;

using hilo::without_subnormal;
C without_subnormal(C x) { return {without_subnormal(x.real()), without_subnormal(x.imag())}; }
template <class T>
C widened(std::complex<T> x) {
  return without_subnormal(C(x));
}
template <class T>
std::complex<T> narrowed(C x) {
  return std::complex<T>(without_subnormal(x));
}

template <class T, C (*F)(C)>
void unary(const KernelArguments& k) {
  const std::complex<T>* in = k.input<std::complex<T>>(0);
  std::complex<T>* out = k.output<std::complex<T>>();
  for (int64_t i = 0; i < k.n; ++i) out[i] = narrowed<T>(F(widened(in[i])));
}

template <class T, double (*F)(C)>
void to_real(const KernelArguments& k) {
  const std::complex<T>* in = k.input<std::complex<T>>(0);
  T* out = k.output<T>();
  for (int64_t i = 0; i < k.n; ++i) out[i] = static_cast<T>(without_subnormal(F(widened(in[i]))));
}

template <class T, C (*F)(C, C)>
void binary(const KernelArguments& k) {
  const std::complex<T>*a = k.input<std::complex<T>>(0), *b = k.input<std::complex<T>>(1);
  std::complex<T>* out = k.output<std::complex<T>>();
  for (int64_t i = 0; i < k.n; ++i) out[i] = narrowed<T>(F(widened(a[i]), widened(b[i])));
}

// What moves a part or changes its sign keeps its bits.
template <class T>
void negate(const KernelArguments& k) {
  const std::complex<T>* in = k.input<std::complex<T>>(0);
  std::complex<T>* out = k.output<std::complex<T>>();
  for (int64_t i = 0; i < k.n; ++i) out[i] = -in[i];
}
template <class T>
void real_part(const KernelArguments& k) {
  const std::complex<T>* in = k.input<std::complex<T>>(0);
  T* out = k.output<T>();
  for (int64_t i = 0; i < k.n; ++i) out[i] = in[i].real();
}
template <class T>
void imaginary_part(const KernelArguments& k) {
  const std::complex<T>* in = k.input<std::complex<T>>(0);
  T* out = k.output<T>();
  for (int64_t i = 0; i < k.n; ++i) out[i] = in[i].imag();
}

double absolute(C x) { return std::hypot(x.real(), x.imag()); }
// Zeros keep their signs, as in XLA.
C sign(C x) {
  const double length = absolute(x);
  return length == 0 ? x : C(x.real() / length, x.imag() / length);
}
C square_root(C x) { return std::sqrt(x); }
// The conjugate's is the conjugate, of real numbers too.
C reciprocal_root(C x) {
  const C root = std::sqrt(x), out = 1.0 / root;
  return {out.real(), std::copysign(out.imag(), -root.imag())};
}
C exponential(C x) { return std::exp(x); }
// e^a cos b - 1 = expm1(a) cos b - 2 sin^2(b/2)
C exponential_minus_one(C x) {
  const double half = std::sin(x.imag() / 2), grown = std::expm1(x.real());
  // Of a real number real, infinite ones too.
  const double imaginary = x.imag() == 0 ? x.imag() : (grown + 1) * std::sin(x.imag());
  return {grown * std::cos(x.imag()) - 2 * half * half, imaginary};
}
C logarithm(C x) { return std::log(x); }
// log|1+z| = log1p(2a + a^2 + b^2) / 2
C log_plus_one(C x) {
  const double a = x.real(), b = x.imag();
  if (std::fabs(a) > 0.5 || std::fabs(b) > 0.5) return std::log(C(1 + a, b));
  return {0.5 * std::log1p(2 * a + a * a + b * b), std::atan2(b, 1 + a)};
}
// Zeros have the signs of the angle's cosine and sine.
C logistic(C x) {
  const C e = std::exp(x.real() >= 0 ? -x : x);
  const C out = x.real() >= 0 ? 1.0 / (1.0 + e) : e / (1.0 + e);
  const double angle = std::isfinite(x.imag()) ? x.imag() : 0;
  return {out.real() == 0 ? std::copysign(0.0, std::cos(angle)) : out.real(),
          out.imag() == 0 ? std::copysign(0.0, std::sin(angle)) : out.imag()};
}
C sine(C x) { return std::sin(x); }
C cosine(C x) { return std::cos(x); }
C tangent(C x) { return std::tan(x); }
C hyperbolic_sine(C x) { return std::sinh(x); }
C hyperbolic_cosine(C x) { return std::cosh(x); }
C hyperbolic_tangent(C x) { return std::tanh(x); }
C arc_sine(C x) { return std::asin(x); }
C arc_cosine(C x) { return std::acos(x); }
C area_sine(C x) { return std::asinh(x); }
C area_cosine(C x) { return std::acosh(x); }
C area_tangent(C x) { return std::atanh(x); }
C add(C a, C b) { return a + b; }
C subtract(C a, C b) { return a - b; }
// Plain, as XLA and NumPy do: infinity times (0 + 1i) has a NaN.
C multiply(C a, C b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
C divide(C a, C b) { return a / b; }
// Of parts that f32 holds: their products are exact, and none overflows. The larger part of b is
// turned to be positive, which gives zeros the signs that they have where it is divided by.
C divide_single(C a, C b) {
  const bool is_steep = std::fabs(b.real()) < std::fabs(b.imag());
  const double sign = std::copysign(1.0, is_steep ? b.imag() : b.real());
  const double size = sign * (b.real() * b.real() + b.imag() * b.imag());
  const double real = sign * b.real(), imaginary = sign * b.imag();
  const C out((a.real() * real + a.imag() * imaginary) / size,
              (a.imag() * real - a.real() * imaginary) / size);
  return std::isnan(out.real()) && std::isnan(out.imag()) ? a / b : out;
}
// As XLA: of zero only positive real powers are numbers.
C power(C a, C b) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (b == C(0)) return 1;
  if (a == C(0)) return b.real() > 0 && b.imag() == 0 ? C(0) : C(nan, nan);
  return std::exp(multiply(b, std::log(a)));
}
// -i log((x + iy) / sqrt(x^2 + y^2)), the continuation of the real one.
C arc_tangent_of_quotient(C y, C x) {
  const C sum(x.real() - y.imag(), x.imag() + y.real());
  const C log = std::log(sum / std::sqrt(multiply(x, x) + multiply(y, y)));
  return {log.imag(), -log.real()};
}

#define ROW(op, form, f) ROW_OF_TWO(op, form, f, f)
#define ROW_OF_TWO(op, form, f, g) ROW_OF_KERNELS(op, (form<float, f>), (form<double, g>))
#define ROW_OF_LOOPS(op, loop) ROW_OF_KERNELS(op, loop<float>, loop<double>)
#define ROW_OF_KERNELS(op, single, both)                                                        \
  {                                                                                             \
    Op::op, {                                                                                   \
      nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, \
          single, both                                                                          \
    }                                                                                           \
  }

constexpr KernelEntry entries[] = {
    ROW(Abs, to_real, absolute),
    ROW_OF_LOOPS(Real, real_part),
    ROW_OF_LOOPS(Imag, imaginary_part),
    ROW_OF_LOOPS(Negate, negate),
    ROW(Sign, unary, sign),
    ROW(Sqrt, unary, square_root),
    ROW(Rsqrt, unary, reciprocal_root),
    ROW(Exponential, unary, exponential),
    ROW(ExponentialMinusOne, unary, exponential_minus_one),
    ROW(Log, unary, logarithm),
    ROW(LogPlusOne, unary, log_plus_one),
    ROW(Logistic, unary, logistic),
    ROW(Sine, unary, sine),
    ROW(Cosine, unary, cosine),
    ROW(Tan, unary, tangent),
    ROW(Sinh, unary, hyperbolic_sine),
    ROW(Cosh, unary, hyperbolic_cosine),
    ROW(Tanh, unary, hyperbolic_tangent),
    ROW(Asin, unary, arc_sine),
    ROW(Acos, unary, arc_cosine),
    ROW(Asinh, unary, area_sine),
    ROW(Acosh, unary, area_cosine),
    ROW(Atanh, unary, area_tangent),
    ROW(Add, binary, add),
    ROW(Subtract, binary, subtract),
    ROW(Multiply, binary, multiply),
    ROW_OF_TWO(Divide, binary, divide_single, divide),
    ROW(Power, binary, power),
    ROW(Atan2, binary, arc_tangent_of_quotient),
};

}  // namespace

std::span<const KernelEntry> complex_kernels() { return entries; }

}  // namespace hilo

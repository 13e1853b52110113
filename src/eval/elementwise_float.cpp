// Elementwise ops on f32 and f64. Functions that glibc's float version misses by more than one unit
// of the last place are computed in double.
#include <cmath>

#include "eval/kernel.h"

namespace hilo {
namespace {

template <class T, T (*F)(T)>
void unary(const KernelArguments& k) {
  const T* in = k.input<T>(0);
  T* out = k.output<T>();
  for (int64_t i = 0; i < k.n; ++i) out[i] = F(in[i]);
}

template <double (*F)(double)>
void through_double(const KernelArguments& k) {
  const float* in = k.input<float>(0);
  float* out = k.output<float>();
  for (int64_t i = 0; i < k.n; ++i) out[i] = static_cast<float>(F(in[i]));
}

template <class T, T (*F)(T, T)>
void binary(const KernelArguments& k) {
  const T *a = k.input<T>(0), *b = k.input<T>(1);
  T* out = k.output<T>();
  for (int64_t i = 0; i < k.n; ++i) out[i] = F(a[i], b[i]);
}

template <double (*F)(double, double)>
void binary_through_double(const KernelArguments& k) {
  const float *a = k.input<float>(0), *b = k.input<float>(1);
  float* out = k.output<float>();
  for (int64_t i = 0; i < k.n; ++i) out[i] = static_cast<float>(F(a[i], b[i]));
}

template <class T>
T absolute(T x) {
  return std::fabs(x);
}
template <class T>
T negate(T x) {
  return -x;
}
template <class T>
T same(T x) {
  return x;
}
template <class T>
T zero(T) {
  return 0;
}
template <class T>
T sign(T x) {
  return x > 0 ? T(1) : x < 0 ? T(-1) : x;
}
template <class T>
T square_root(T x) {
  return std::sqrt(x);
}
template <class T>
T ceiling(T x) {
  return std::ceil(x);
}
template <class T>
T flooring(T x) {
  return std::floor(x);
}
template <class T>
T round_away(T x) {
  return std::round(x);
}
template <class T>
T round_even(T x) {
  return std::nearbyint(x);
}
template <class T>
T exponential(T x) {
  return std::exp(x);
}
template <class T>
T logarithm(T x) {
  return std::log(x);
}
template <class T>
T sine(T x) {
  return std::sin(x);
}
template <class T>
T cosine(T x) {
  return std::cos(x);
}
double reciprocal_root(double x) { return 1 / std::sqrt(x); }
double logistic(double x) {
  const double e = std::exp(-std::fabs(x));
  return x >= 0 ? 1 / (1 + e) : x < 0 ? e / (1 + e) : x;
}
template <class T>
T add(T a, T b) {
  return a + b;
}
template <class T>
T subtract(T a, T b) {
  return a - b;
}
template <class T>
T multiply(T a, T b) {
  return a * b;
}
template <class T>
T divide(T a, T b) {
  return a / b;
}
template <class T>
T remainder_of(T a, T b) {
  return std::fmod(a, b);
}
template <class T>
T maximum(T a, T b) {
  return (a >= b || a != a) ? a : b;
}
template <class T>
T minimum(T a, T b) {
  return (a <= b || a != a) ? a : b;
}
template <class T>
T power(T a, T b) {
  return std::pow(a, b);
}

template <class T>
void is_finite(const KernelArguments& k) {
  const T* in = k.input<T>(0);
  uint8_t* out = k.output<uint8_t>();
  for (int64_t i = 0; i < k.n; ++i) out[i] = in[i] - in[i] == 0;
}

template <class T>
void clamp(const KernelArguments& k) {
  const T *low = k.input<T>(0), *x = k.input<T>(1), *high = k.input<T>(2);
  T* out = k.output<T>();
  for (int64_t i = 0; i < k.n; ++i) out[i] = minimum(maximum(low[i], x[i]), high[i]);
}

template <class T>
void make_complex(const KernelArguments& k) {
  const T *real = k.input<T>(0), *imag = k.input<T>(1);
  std::complex<T>* out = k.output<std::complex<T>>();
  for (int64_t i = 0; i < k.n; ++i) out[i] = {real[i], imag[i]};
}

// Keeps `mantissa_bits` bits after the point, rounded to even, and exponents of `exponent_bits`:
// larger becomes infinity, smaller zero ("ReducePrecision" in XLA's operation semantics).
double reduce_precision(double x, int64_t exponent_bits, int64_t mantissa_bits) {
  if (x != x || std::isinf(x)) return x;
  uint64_t raw = std::bit_cast<uint64_t>(x);
  const int64_t dropped = 52 - mantissa_bits;
  if (dropped > 0) {
    const uint64_t last = (raw >> dropped) & 1;
    raw += (uint64_t{1} << (dropped - 1)) - 1 + last;
    raw &= ~((uint64_t{1} << dropped) - 1);
  }
  const double rounded = std::bit_cast<double>(raw);
  if (exponent_bits >= 11) return rounded;
  const int64_t bias = (int64_t{1} << (exponent_bits - 1)) - 1;
  const int64_t exponent = static_cast<int64_t>((raw >> 52) & 0x7ff) - 1023;
  if (exponent > bias) return std::copysign(HUGE_VAL, x);
  return exponent <= -bias ? std::copysign(0.0, x) : rounded;
}

template <class T>
void reduce_precision(const KernelArguments& k) {
  const T* in = k.input<T>(0);
  T* out = k.output<T>();
  // A narrower mantissa than the type's own rounds; an exponent as wide as its own changes nothing.
  const bool wide = k.first >= (sizeof(T) == 4 ? 8 : 11);
  for (int64_t i = 0; i < k.n; ++i)
    out[i] = static_cast<T>(reduce_precision(in[i], wide ? 11 : k.first, k.second));
}

#define BOTH(op, f32, f64)                                                                       \
  {                                                                                              \
    Op::op, { nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, f32, f64 } \
  }
#define SAME(op, f) BOTH(op, (unary<float, f<float>>), (unary<double, f<double>>))
#define PAIR(op, f) BOTH(op, (binary<float, f<float>>), (binary<double, f<double>>))
#define WIDE(op, f) BOTH(op, through_double<f>, (unary<double, f>))
#define WIDE_PAIR(op, f) BOTH(op, binary_through_double<f>, (binary<double, f>))

constexpr KernelEntry entries[] = {
    SAME(Abs, absolute),
    WIDE(Acos, ::acos),
    WIDE(Acosh, ::acosh),
    WIDE(Asin, ::asin),
    WIDE(Asinh, ::asinh),
    WIDE(Atanh, ::atanh),
    WIDE(Cbrt, ::cbrt),
    SAME(Ceil, ceiling),
    SAME(Cosine, cosine),
    WIDE(Cosh, ::cosh),
    WIDE(Erf, ::erf),
    SAME(Exponential, exponential),
    WIDE(ExponentialMinusOne, ::expm1),
    SAME(Floor, flooring),
    SAME(Imag, zero),
    BOTH(IsFinite, is_finite<float>, is_finite<double>),
    SAME(Log, logarithm),
    WIDE(LogPlusOne, ::log1p),
    WIDE(Logistic, logistic),
    SAME(Negate, negate),
    SAME(Real, same),
    BOTH(ReducePrecision, reduce_precision<float>, reduce_precision<double>),
    SAME(RoundNearestAfz, round_away),
    SAME(RoundNearestEven, round_even),
    WIDE(Rsqrt, reciprocal_root),
    SAME(Sign, sign),
    SAME(Sine, sine),
    WIDE(Sinh, ::sinh),
    SAME(Sqrt, square_root),
    WIDE(Tan, ::tan),
    WIDE(Tanh, ::tanh),
    PAIR(Add, add),
    WIDE_PAIR(Atan2, ::atan2),
    BOTH(Clamp, clamp<float>, clamp<double>),
    BOTH(Complex, make_complex<float>, make_complex<double>),
    PAIR(Divide, divide),
    PAIR(Maximum, maximum),
    PAIR(Minimum, minimum),
    PAIR(Multiply, multiply),
    PAIR(Power, power),
    PAIR(Remainder, remainder_of),
    PAIR(Subtract, subtract),
};

}  // namespace

std::span<const KernelEntry> float_kernels() { return entries; }

}  // namespace hilo

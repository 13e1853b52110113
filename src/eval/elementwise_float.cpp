// Elementwise ops on f32 and f64. Functions that glibc's float version misses by more than one unit
// of the last place are computed in double.
#include <cmath>

#include "eval/kernel.h"
#include "eval/without_subnormal.h"

namespace hilo {
namespace {

template <class T, T (*F)(T)>
void unary(const KernelArguments& k) {
  const T* in = k.input<T>(0);
  T* out = k.output<T>();
  for (int64_t i = 0; i < k.n; ++i) out[i] = F(in[i]);
}

template <class T, T (*F)(T)>
void function(const KernelArguments& k) {
  const T* in = k.input<T>(0);
  T* out = k.output<T>();
  for (int64_t i = 0; i < k.n; ++i) out[i] = without_subnormal(F(without_subnormal(in[i])));
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

template <class T, T (*F)(T, T)>
void function_of_two(const KernelArguments& k) {
  const T *a = k.input<T>(0), *b = k.input<T>(1);
  T* out = k.output<T>();
  for (int64_t i = 0; i < k.n; ++i)
    out[i] = without_subnormal(F(without_subnormal(a[i]), without_subnormal(b[i])));
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
  return x > 0 ? T(1) : x < 0 ? T(-1) : x != x ? x : std::copysign(T(0), x);
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
// IEEE 754-2019's maximum and minimum: NaN where there is one, and -0 is less than 0. Subnormal
// numbers are zeros, as in XLA.
template <class T>
T maximum(T a, T b) {
  const bool is_first = a > b || a != a || (a == b && std::signbit(b));
  return without_subnormal(is_first ? a : b);
}
template <class T>
T minimum(T a, T b) {
  const bool is_first = a < b || a != a || (a == b && std::signbit(a));
  return without_subnormal(is_first ? a : b);
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
// larger becomes infinity, smaller zero ("ReducePrecision" in XLA's operation semantics). An
// exponent as wide as the type's own changes nothing, of subnormal numbers either.
template <class T>
T reduce_precision(T x, int64_t exponent_bits, int64_t mantissa_bits) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  const int significand = std::numeric_limits<T>::digits - 1;
  const int own_bits = 8 * sizeof(T) - 1 - significand, own_bias = (1 << (own_bits - 1)) - 1;
  if (x != x || std::isinf(x)) return x;
  Bits raw = std::bit_cast<Bits>(x);
  if (const int64_t dropped = significand - mantissa_bits; dropped > 0) {
    raw += (Bits{1} << (dropped - 1)) - 1 + ((raw >> dropped) & 1);
    raw &= ~((Bits{1} << dropped) - 1);
  }
  if (exponent_bits >= own_bits) return std::bit_cast<T>(raw);
  const int64_t bias = (int64_t{1} << (exponent_bits - 1)) - 1;
  const int64_t exponent =
      static_cast<int64_t>((raw >> significand) & ((1 << own_bits) - 1)) - own_bias;
  if (exponent > bias) return std::copysign(std::numeric_limits<T>::infinity(), x);
  return exponent <= -bias ? std::copysign(T(0), x) : std::bit_cast<T>(raw);
}

template <class T>
void reduce_precision(const KernelArguments& k) {
  const T* in = k.input<T>(0);
  T* out = k.output<T>();
  for (int64_t i = 0; i < k.n; ++i) out[i] = reduce_precision(in[i], k.first, k.second);
}

#define BOTH(op, f32, f64)                                                                       \
  {                                                                                              \
    Op::op, { nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, f32, f64 } \
  }
#define SAME(op, f) BOTH(op, (unary<float, f<float>>), (unary<double, f<double>>))
#define PAIR(op, f) BOTH(op, (binary<float, f<float>>), (binary<double, f<double>>))
#define FUNCTION(op, f) BOTH(op, (function<float, f<float>>), (function<double, f<double>>))
#define FUNCTION_OF_TWO(op, f) \
  BOTH(op, (function_of_two<float, f<float>>), (function_of_two<double, f<double>>))
#define WIDE(op, f) BOTH(op, through_double<f>, (function<double, f>))
#define WIDE_PAIR(op, f) BOTH(op, binary_through_double<f>, (function_of_two<double, f>))

constexpr KernelEntry entries[] = {
    SAME(Abs, absolute),
    WIDE(Acos, ::acos),
    WIDE(Acosh, ::acosh),
    WIDE(Asin, ::asin),
    WIDE(Asinh, ::asinh),
    WIDE(Atanh, ::atanh),
    WIDE(Cbrt, ::cbrt),
    SAME(Ceil, ceiling),
    FUNCTION(Cosine, cosine),
    WIDE(Cosh, ::cosh),
    WIDE(Erf, ::erf),
    FUNCTION(Exponential, exponential),
    WIDE(ExponentialMinusOne, ::expm1),
    SAME(Floor, flooring),
    SAME(Imag, zero),
    BOTH(IsFinite, is_finite<float>, is_finite<double>),
    FUNCTION(Log, logarithm),
    WIDE(LogPlusOne, ::log1p),
    WIDE(Logistic, logistic),
    SAME(Negate, negate),
    SAME(Real, same),
    BOTH(ReducePrecision, reduce_precision<float>, reduce_precision<double>),
    SAME(RoundNearestAfz, round_away),
    SAME(RoundNearestEven, round_even),
    WIDE(Rsqrt, reciprocal_root),
    SAME(Sign, sign),
    FUNCTION(Sine, sine),
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
    FUNCTION_OF_TWO(Power, power),
    FUNCTION_OF_TWO(Remainder, remainder_of),
    PAIR(Subtract, subtract),
};

}  // namespace

std::span<const KernelEntry> float_kernels() { return entries; }

}  // namespace hilo

#include "base/small_float.h"

#include <array>
#include <cmath>
#include <limits>

namespace hilo {
namespace {

uint32_t nan_bits(bool negative, FloatFormat f) {
  const uint32_t sign = negative ? 1u << (f.bits() - 1) : 0;
  const uint32_t all_ones = (1u << (f.bits() - 1)) - 1;
  switch (f.specials) {
    case Specials::Ieee:
      return sign | (((1u << f.exponent_bits) - 1) << f.mantissa_bits) |
             (1u << (f.mantissa_bits - 1));
    case Specials::FiniteNan: return sign | all_ones;
    case Specials::FiniteOnly: return 1u << (f.bits() - 1);
    case Specials::Fnuz: return 1u << (f.bits() - 1);
  }
  return 0;
}

// The largest finite magnitude.
uint32_t largest_bits(FloatFormat f) {
  const uint32_t all_ones = (1u << (f.bits() - 1)) - 1;
  if (f.specials == Specials::Ieee) return (((1u << f.exponent_bits) - 1) << f.mantissa_bits) - 1;
  return f.specials == Specials::FiniteNan ? all_ones - 1 : all_ones;
}

uint32_t overflow_bits(bool negative, FloatFormat f) {
  const uint32_t sign = negative ? 1u << (f.bits() - 1) : 0;
  if (f.specials == Specials::Ieee) return sign | (largest_bits(f) + 1);
  return f.specials == Specials::FiniteOnly ? sign | largest_bits(f) : nan_bits(negative, f);
}

// With its payload, of the formats that have such.
float nan_of(uint32_t bits, FloatFormat f) {
  const uint32_t sign = (bits >> (f.bits() - 1)) << 31, quiet = 0x7fc00000;
  if (f.specials != Specials::Ieee) return std::bit_cast<float>(quiet | sign);
  const uint32_t payload = bits & ((1u << f.mantissa_bits) - 1);
  return std::bit_cast<float>(0x7f800000 | sign | payload << (23 - f.mantissa_bits));
}

template <class T>
std::array<float, 256> decode_all() {
  std::array<float, 256> out;
  const uint32_t mask = (1u << T::format.bits()) - 1;
  for (uint32_t i = 0; i < 256; ++i) {
    const double value = decode(i & mask, T::format);
    out[i] = std::isnan(value) ? nan_of(i & mask, T::format) : static_cast<float>(value);
  }
  return out;
}

}  // namespace

uint32_t encode(double value, FloatFormat f) {
  const bool negative = std::signbit(value);
  if (std::isnan(value)) return nan_bits(negative, f);
  if (std::isinf(value)) return overflow_bits(negative, f);
  const double magnitude = std::fabs(value);
  int exponent = magnitude == 0 ? 1 - f.bias : std::ilogb(magnitude);
  exponent = std::max(exponent, 1 - f.bias);  // below: subnormal spacing
  // Units of the last place are exact powers of two, and the scaled value has at most 53 bits.
  const double units = std::nearbyint(std::scalbn(magnitude, f.mantissa_bits - exponent));
  const uint64_t biased = static_cast<uint64_t>(exponent + f.bias - 1);
  const uint64_t bits = (biased << f.mantissa_bits) + static_cast<uint64_t>(units);
  if (bits > largest_bits(f)) return overflow_bits(negative, f);
  if (bits == 0 && f.specials == Specials::Fnuz) return 0;
  return static_cast<uint32_t>(bits) | (negative ? 1u << (f.bits() - 1) : 0);
}

double decode(uint32_t bits, FloatFormat f) {
  const uint32_t sign_bit = 1u << (f.bits() - 1);
  const bool negative = bits & sign_bit;
  const uint32_t magnitude = bits & (sign_bit - 1);
  const double nan = std::copysign(std::numeric_limits<double>::quiet_NaN(), negative ? -1.0 : 1.0);
  if (f.specials == Specials::Fnuz && bits == sign_bit) return nan;
  if (f.specials == Specials::FiniteNan && magnitude == sign_bit - 1) return nan;
  if (f.specials == Specials::Ieee && magnitude > largest_bits(f)) {
    if (magnitude != largest_bits(f) + 1) return nan;
    return negative ? -HUGE_VAL : HUGE_VAL;
  }
  const int exponent = static_cast<int>(magnitude >> f.mantissa_bits);
  const uint32_t fraction = magnitude & ((1u << f.mantissa_bits) - 1);
  const double significand = exponent == 0 ? fraction : fraction + (1u << f.mantissa_bits);
  const double value = std::scalbn(significand, std::max(exponent, 1) - f.bias - f.mantissa_bits);
  return negative ? -value : value;
}

float round_to_odd(double value) {
  const float nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || nearest != nearest || std::isinf(value))
    return nearest;
  uint32_t raw = std::bit_cast<uint32_t>(nearest);
  const bool too_far = std::fabs(static_cast<double>(nearest)) > std::fabs(value);
  if (too_far) raw -= 1;  // toward zero
  return std::bit_cast<float>(raw | 1);
}

F8E8M0FNU::F8E8M0FNU(double value) {
  if (!(value > 0) || std::isinf(value)) {
    bits = 255;
    return;
  }
  int exponent = std::ilogb(value);
  const double fraction = std::scalbn(value, -exponent);  // [1, 2)
  // XLA and ml_dtypes round everything between the two smallest values up.
  if (fraction >= 1.5 || (exponent == -127 && fraction > 1)) ++exponent;
  if (exponent > 127) bits = 255;
  else bits = static_cast<uint8_t>(std::max(exponent + 127, 0));
}

F8E8M0FNU::operator float() const {
  if (bits == 255) return std::numeric_limits<float>::quiet_NaN();
  // By its bits: 2^-127 is subnormal, which arithmetic may take for zero.
  return std::bit_cast<float>(bits == 0 ? uint32_t{1} << 22 : uint32_t{bits} << 23);
}

#define TABLE(T)                                                  \
  template <>                                                     \
  const float* T::table() {                                       \
    static const std::array<float, 256> values = decode_all<T>(); \
    return values.data();                                         \
  }
TABLE(F8E5M2);
TABLE(F8E4M3);
TABLE(F8E3M4);
TABLE(F8E4M3FN);
TABLE(F8E4M3B11FNUZ);
TABLE(F8E5M2FNUZ);
TABLE(F8E4M3FNUZ);
TABLE(F4E2M1FN);
TABLE(F6E3M2FN);
TABLE(F6E2M3FN);

}  // namespace hilo

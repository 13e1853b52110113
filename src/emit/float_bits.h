// The parts of the bits of float and double (IEEE 754). Private to `emit`.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace hilo {

template <class T>
struct FloatBits {
  using Limits = std::numeric_limits<T>;
  using Bits = std::conditional_t<sizeof(T) == sizeof(uint32_t), uint32_t, uint64_t>;

  static constexpr int significand = Limits::digits - 1;  // bits of it that are stored
  static constexpr int bias = Limits::max_exponent - 1;   // of the exponent, which is above them
  static constexpr Bits infinity = std::bit_cast<Bits>(Limits::infinity());
  static constexpr Bits nan = std::bit_cast<Bits>(Limits::quiet_NaN());
  static constexpr Bits min_normal = std::bit_cast<Bits>(Limits::min());
  static constexpr Bits sign = std::bit_cast<Bits>(-T());
  static constexpr Bits power(int exponent) {  // 2^exponent
    return static_cast<Bits>(exponent + bias) << significand;
  }
};

}  // namespace hilo

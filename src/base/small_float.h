// Floating-point types that C++ lacks. Each is its bits; arithmetic is done in float (or double)
// and rounded to nearest, ties to even, on storing. Formats: OCP 8-bit and MX specifications; the
// FNUZ types have one NaN (0x80) and no negative zero.
#pragma once

#include <bit>
#include <cstdint>

namespace hilo {

// How a format spends its special encodings.
enum class Specials : uint8_t {
  Ieee,        // top exponent: infinities and NaNs
  FiniteNan,   // "fn": no infinities, NaN is all ones
  FiniteOnly,  // "fn" of the MX types: neither infinities nor NaN
  Fnuz,        // no infinities, no negative zero, NaN is the sign bit alone
};

struct FloatFormat {
  int exponent_bits, mantissa_bits, bias;
  Specials specials;
  constexpr int bits() const { return 1 + exponent_bits + mantissa_bits; }
};

// Bits of `value` in `format`, rounded to nearest even once from double. What is too large becomes
// infinity, or NaN where there is none, or the largest value in FiniteOnly formats; NaN becomes the
// format's quiet NaN with its sign (negative zero in FiniteOnly).
uint32_t encode(double value, FloatFormat format);
double decode(uint32_t bits, FloatFormat format);

template <int Exponent, int Mantissa, int Bias, Specials S>
struct SmallFloat {
  static constexpr FloatFormat format = {Exponent, Mantissa, Bias, S};
  uint8_t bits = 0;

  SmallFloat() = default;
  SmallFloat(double value) : bits(static_cast<uint8_t>(encode(value, format))) {}
  operator float() const { return table()[bits]; }
  static SmallFloat from_bits(uint8_t bits) {
    SmallFloat out;
    out.bits = bits;
    return out;
  }

 private:
  static const float* table();  // 256 decoded values
};

using F8E5M2 = SmallFloat<5, 2, 15, Specials::Ieee>;
using F8E4M3 = SmallFloat<4, 3, 7, Specials::Ieee>;
using F8E3M4 = SmallFloat<3, 4, 3, Specials::Ieee>;
using F8E4M3FN = SmallFloat<4, 3, 7, Specials::FiniteNan>;
using F8E4M3B11FNUZ = SmallFloat<4, 3, 11, Specials::Fnuz>;
using F8E5M2FNUZ = SmallFloat<5, 2, 16, Specials::Fnuz>;
using F8E4M3FNUZ = SmallFloat<4, 3, 8, Specials::Fnuz>;
using F4E2M1FN = SmallFloat<2, 1, 1, Specials::FiniteOnly>;
using F6E3M2FN = SmallFloat<3, 2, 3, Specials::FiniteOnly>;
using F6E2M3FN = SmallFloat<2, 3, 1, Specials::FiniteOnly>;

// Powers of two 2^(bits-127), 255 is NaN; no sign, no zero. Rounded to nearest, ties up; what is
// too small becomes the smallest; zero, negative values, what is too large and NaN become NaN.
struct F8E8M0FNU {
  uint8_t bits = 0;
  F8E8M0FNU() = default;
  F8E8M0FNU(double value);
  operator float() const;
  static F8E8M0FNU from_bits(uint8_t bits) {
    F8E8M0FNU out;
    out.bits = bits;
    return out;
  }
};

// A double rounded to float so that a second rounding to a type of at most 22 significand bits is
// the correct rounding of the double (round to odd).
float round_to_odd(double value);

struct BF16 {
  uint16_t bits = 0;
  BF16() = default;
  BF16(float value) : bits(narrow(value)) {}
  BF16(double value) : bits(narrow(round_to_odd(value))) {}
  BF16(int value) : BF16(static_cast<double>(value)) {}
  operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
  static BF16 from_bits(uint16_t bits) {
    BF16 out;
    out.bits = bits;
    return out;
  }

 private:
  static uint16_t narrow(float value) {
    const uint32_t raw = std::bit_cast<uint32_t>(value);
    const uint32_t rounded = (raw + 0x7fff + ((raw >> 16) & 1)) >> 16;
    return static_cast<uint16_t>(value != value ? (raw >> 16) | 0x40 : rounded);
  }
};

// IEEE 754's binary16 as the compiler names it; GCC 12 has no _Float16 in C++ for AArch64.
#ifdef __aarch64__
using Binary16 = __fp16;
#else
using Binary16 = _Float16;
#endif

struct F16 {
  uint16_t bits = 0;
  F16() = default;
  F16(float value) : bits(narrow(value)) {}
  F16(double value) : bits(narrow(round_to_odd(value))) {}
  F16(int value) : F16(static_cast<double>(value)) {}
  operator float() const { return widen(bits); }
  static F16 from_bits(uint16_t bits) {
    F16 out;
    out.bits = bits;
    return out;
  }

 private:
  static uint16_t narrow(float value) {
    return std::bit_cast<uint16_t>(static_cast<Binary16>(value));
  }
  static float widen(uint16_t bits) { return static_cast<float>(std::bit_cast<Binary16>(bits)); }
};

}  // namespace hilo

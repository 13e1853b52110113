#include <gtest/gtest.h>

#include <cmath>

#include "base/base.h"

namespace hilo {
namespace {

// Every pattern of every 8-bit format survives decode and encode.
template <class T>
void round_trip() {
  const uint32_t count = 1u << T::format.bits();
  for (uint32_t bits = 0; bits < count; ++bits) {
    const double value = decode(bits, T::format);
    if (std::isnan(value)) EXPECT_TRUE(std::isnan(decode(encode(value, T::format), T::format)));
    else EXPECT_EQ(encode(value, T::format), bits) << bits;
  }
}

TEST(SmallFloat, RoundTripsEveryPattern) {
  round_trip<F8E5M2>(), round_trip<F8E4M3>(), round_trip<F8E3M4>(), round_trip<F8E4M3FN>();
  round_trip<F8E4M3B11FNUZ>(), round_trip<F8E5M2FNUZ>(), round_trip<F8E4M3FNUZ>();
  round_trip<F4E2M1FN>(), round_trip<F6E3M2FN>(), round_trip<F6E2M3FN>();
}

// Largest finite values and smallest subnormals of the OCP OFP8 and MX tables.
TEST(SmallFloat, PublishedExtremes) {
  EXPECT_EQ(decode(0x7e, F8E4M3FN::format), 448);
  EXPECT_EQ(decode(0x7b, F8E5M2::format), 57344);
  EXPECT_EQ(decode(0x01, F8E4M3FN::format), std::ldexp(1, -9));
  EXPECT_EQ(decode(0x01, F8E5M2::format), std::ldexp(1, -16));
  EXPECT_EQ(decode(0x07, F4E2M1FN::format), 6);
  EXPECT_EQ(decode(0x1f, F6E3M2FN::format), 28);
  EXPECT_EQ(decode(0x1f, F6E2M3FN::format), 7.5);
  EXPECT_EQ(decode(0x7f, F8E4M3FNUZ::format), 240);
  EXPECT_EQ(decode(0x7f, F8E5M2FNUZ::format), 57344);
}

TEST(SmallFloat, RoundsOnce) {
  EXPECT_EQ(BF16(1.0 + std::ldexp(1, -8) + std::ldexp(1, -40)).bits, 0x3f81);  // just above a tie
  EXPECT_EQ(BF16(1.0f + std::ldexp(1.0f, -8)).bits, 0x3f80);                   // a tie goes to even
  EXPECT_EQ(F16(1.0 + std::ldexp(1, -11) + std::ldexp(1, -45)).bits, 0x3c01);
  EXPECT_EQ(F16(65520.0f).bits, 0x7c00);
}

}  // namespace
}  // namespace hilo

// Small floats against ml_dtypes and NumPy, through tables that small_float_tables.py writes now.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "base/base.h"

namespace hilo {
namespace {

constexpr int pairs = 200'000;  // as in the script

class Peers : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    path_ = fmt::format("{}/small_float_tables.{}", HILO_BUILD, getpid());
    if (access(HILO_PEERS, X_OK) != 0) return;
    const std::string script = HILO_SOURCE "/tests/base/small_float_tables.py";
    made_ = std::system(fmt::format("{} {} {}", HILO_PEERS, script, path_).c_str()) == 0;
  }
  static void TearDownTestSuite() { std::remove(path_.c_str()); }
  void SetUp() override {
    if (access(HILO_PEERS, X_OK) != 0) GTEST_SKIP() << HILO_PEERS << " is absent";
    ASSERT_TRUE(made_);
    file_.open(path_, std::ios::binary);
  }
  template <class T>
  std::vector<T> read(size_t count) {
    std::vector<T> out(count);
    file_.read(reinterpret_cast<char*>(out.data()), count * sizeof(T));
    EXPECT_TRUE(file_.good()) << "the tables are too short";
    return out;
  }

  static inline std::string path_;
  static inline bool made_ = false;
  std::ifstream file_;
};

bool same_value(float a, float b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

template <class T>
void compare(const char* name, const std::vector<float>& decoded, const std::vector<uint8_t>& halfs,
             const std::vector<uint8_t>& brains) {
  int wrong = 0;
  for (int i = 0; i < 256; ++i)
    if (!same_value(T::from_bits(static_cast<uint8_t>(i)), decoded[i]))
      ADD_FAILURE() << name << ": decode " << i << ", expected " << decoded[i];
  const auto expect = [&](float value, uint8_t bits) {
    // ml_dtypes gives -0 for nan and 0 for -nan; compiled XLA programs, like ours, -0 for both.
    if constexpr (requires { T::format; })
      if (T::format.specials == Specials::FiniteOnly && std::isnan(value))
        bits |= 1 << (T::format.bits() - 1);
    if (T(value).bits != bits && ++wrong <= 5)
      ADD_FAILURE() << name << ": encode " << value << ": expected " << int{bits} << ", found "
                    << int{T(value).bits};
  };
  for (uint32_t i = 0; i < 65536; ++i) {
    expect(F16::from_bits(static_cast<uint16_t>(i)), halfs[i]);
    expect(BF16::from_bits(static_cast<uint16_t>(i)), brains[i]);
  }
  EXPECT_EQ(wrong, 0) << name;
}

TEST_F(Peers, EveryPattern) {
  const auto each = [&]<class T>(const char* name) {
    const auto decoded = read<float>(256);
    const auto halfs = read<uint8_t>(65536), brains = read<uint8_t>(65536);
    compare<T>(name, decoded, halfs, brains);
  };
  each.operator()<F8E5M2>("f8e5m2");
  each.operator()<F8E4M3>("f8e4m3");
  each.operator()<F8E3M4>("f8e3m4");
  each.operator()<F8E4M3FN>("f8e4m3fn");
  each.operator()<F8E4M3B11FNUZ>("f8e4m3b11fnuz");
  each.operator()<F8E5M2FNUZ>("f8e5m2fnuz");
  each.operator()<F8E4M3FNUZ>("f8e4m3fnuz");
  each.operator()<F8E8M0FNU>("f8e8m0fnu");
  each.operator()<F4E2M1FN>("f4e2m1fn");
  each.operator()<F6E3M2FN>("f6e3m2fn");
  each.operator()<F6E2M3FN>("f6e2m3fn");

  const auto doubles = read<double>(pairs);
  const auto f16 = read<uint16_t>(pairs);
  for (int i = 0; i < pairs; ++i) ASSERT_EQ(F16(doubles[i]).bits, f16[i]) << doubles[i];
  const auto floats = read<float>(pairs);
  const auto bf16 = read<uint16_t>(pairs);
  for (int i = 0; i < pairs; ++i) {
    if (std::isnan(floats[i])) EXPECT_TRUE(std::isnan(static_cast<float>(BF16(floats[i]))));
    else ASSERT_EQ(BF16(floats[i]).bits, bf16[i]) << floats[i];
  }
}

}  // namespace
}  // namespace hilo

// Known answers: the vectors of Random123 (kat_vectors) and bits drawn by jaxlib 0.10.2.
#include <cmath>

#include "kernels/random/random_bits.h"
#include "wave.h"

namespace hilo::test {
namespace {

TEST(RandomBits, KnownAnswersOfRandom123) {
  EXPECT_EQ(threefry(0, 0), (std::array<uint32_t, 2>{0x6b200159, 0x99ba4efe}));
  EXPECT_EQ(threefry(~uint64_t{0}, ~uint64_t{0}),
            (std::array<uint32_t, 2>{0x1cb996fc, 0xbb002be7}));
  EXPECT_EQ(philox(0, 0, 0),
            (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox(~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}),
            (std::array<uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

TEST(RandomBits, ManyAreThoseOfEach) {
  const uint64_t key = 0x0123456789abcdef, first = 0xfffffffa;
  const ThreefryWords many = threefry_of_many(key, first);
  for (uint64_t i = 0; i < threefry_lanes; ++i)
    EXPECT_EQ((std::array{many[0][i], many[1][i]}), threefry(key, first + i)) << i;
}

constexpr uint64_t key = 0x123456789abcdef0, counter = 0xfffffffffffffffe;

Literal state(const std::vector<uint64_t>& words) {
  return Literal::from<uint64_t>({static_cast<int64_t>(words.size())}, words);
}

template <class T>
void expect_bits(const std::string& algorithm, const std::string& shape,
                 const std::vector<uint64_t>& given, const std::vector<uint64_t>& after,
                 const std::vector<uint64_t>& want) {
  auto module = parse(module_of(
      fmt::format("  s = u64[{0}] parameter(0)\n  ROOT r = (u64[{0}], {1}) rng-bit-generator(s), "
                  "algorithm={2}\n",
                  given.size(), shape, algorithm)));
  ASSERT_TRUE(module.has_value()) << to_string(module.error());
  auto out = evaluate(*module, Inputs{{{state(given)}}});
  ASSERT_TRUE(out.has_value()) << to_string(out.error());
  const auto& leaves = out->devices[0].elements();
  EXPECT_TRUE(same_bits(leaves[0], state(after)));
  const auto bits = leaves[1].data<T>();
  ASSERT_GE(bits.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) EXPECT_EQ(uint64_t{bits[i]}, want[i]) << i;
}

TEST(RngBitGenerator, ThreeFryAsXla) {
  expect_bits<uint32_t>("rng_three_fry", "u32[5]", {key, counter}, {key, 0x1},
                        {0x3c3b507a, 0x7093e72c, 0xa4317ba7, 0x21f1aaca, 0x5eff803d});
  expect_bits<uint32_t>("rng_three_fry", "u32[3,4,2]", {key, counter}, {key, 0xa},
                        {0x3c3b507a, 0xa4317ba7, 0x7093e72c, 0x21f1aaca, 0x5eff803d, 0x394bdefc,
                         0x4ce380f9, 0x64dfd0ae, 0x523f5786, 0x553d0168, 0x4028dd8d, 0xe364850a,
                         0x1f390015, 0x81171b02, 0xf9d09cb9, 0x41fa7d1c, 0x8393e486, 0x50b8a089,
                         0x81ca8296, 0x99c674f7, 0xa655f33a, 0x892e0991, 0x3c1c80ba, 0x5eabc3cc});
  expect_bits<uint32_t>("rng_three_fry", "u32[3,5]", {key, counter}, {key, 0x7},
                        {0x3c3b507a, 0x7093e72c, 0xa4317ba7, 0x21f1aaca, 0x5eff803d, 0x394bdefc,
                         0x64dfd0ae, 0x523f5786, 0x4028dd8d, 0x553d0168, 0x1f390015, 0xf9d09cb9,
                         0x81171b02, 0x41fa7d1c, 0x8393e486});
  expect_bits<uint32_t>("rng_three_fry", "u32[6,4]", {key, counter}, {key, 0xa},
                        {0x3c3b507a, 0xa4317ba7, 0x5eff803d, 0x394bdefc, 0x7093e72c, 0x21f1aaca,
                         0x4ce380f9, 0x64dfd0ae, 0x523f5786, 0x553d0168, 0x1f390015, 0x81171b02,
                         0x4028dd8d, 0xe364850a, 0xf9d09cb9, 0x41fa7d1c, 0x8393e486, 0x50b8a089,
                         0xa655f33a, 0x892e0991, 0x81ca8296, 0x99c674f7, 0x3c1c80ba, 0x5eabc3cc});
  expect_bits<uint64_t>(
      "rng_three_fry", "u64[7]", {key, counter}, {key, 0x5},
      {0x7093e72c3c3b507a, 0x21f1aacaa4317ba7, 0x4ce380f95eff803d, 0x64dfd0ae394bdefc,
       0x4028dd8d523f5786, 0xe364850a553d0168, 0xf9d09cb91f390015});
  expect_bits<uint16_t>("rng_three_fry", "u16[4,6]", {key, counter}, {key, 0xa},
                        {0x507a, 0x7ba7, 0x803d, 0xdefc, 0x5786, 0x168,  0xe72c, 0xaaca,
                         0x80f9, 0xd0ae, 0xdd8d, 0x850a, 0x15,   0x1b02, 0xe486, 0xa089,
                         0xf33a, 0x991,  0x9cb9, 0x7d1c, 0x8296, 0x74f7, 0x80ba, 0xc3cc});
  expect_bits<uint8_t>("rng_three_fry", "u8[7]", {key, counter}, {key, 0x2},
                       {0x7a, 0x2c, 0xa7, 0xca, 0x3d, 0xf9, 0xfc});
  expect_bits<uint32_t>("rng_three_fry", "u32[]", {key, counter}, {key, 0xffffffffffffffff},
                        {0x3c3b507a});
}

TEST(RngBitGenerator, PhiloxAsXla) {
  const std::vector<uint64_t> given = {key, counter, 7};
  expect_bits<uint32_t>("rng_philox", "u32[5]", given, {key, 0, 8},
                        {0x25c9b2d0, 0xca6f05a, 0x644f27d0, 0x1837c7f2, 0x53e97e3});
  expect_bits<uint64_t>("rng_philox", "u64[3,5]", given, {key, 6, 8},
                        {0xca6f05a25c9b2d0, 0x1837c7f2644f27d0, 0x703c71ef053e97e3,
                         0x2ea6d0eaf282c2b2, 0xd1bc960337877777, 0x703823b6088a8a87});
  expect_bits<uint16_t>("rng_philox", "u16[5]", given, {key, 0, 8},
                        {0xb2d0, 0xf05a, 0x27d0, 0xc7f2, 0x97e3});
  expect_bits<uint8_t>("rng_default", "u8[9]", given, {key, 1, 8},
                       {0xd0, 0x5a, 0xd0, 0xf2, 0xe3, 0xef});
  // A state of two words: the key stands for the counter's high word too.
  expect_bits<uint32_t>("rng_default", "u32[5]", {key, counter}, {key, 0},
                        {0xbbd856ff, 0xb795d4a1, 0x9db4dbb7, 0xb129d7a7, 0x583ddf1e});
}

TEST(Rng, UniformAndNormalHaveTheirMoments) {
  const auto moments = [](const std::string& distribution, double a, double b) {
    const auto got =
        run_one(module_of(fmt::format("  a = f32[] constant({})\n  b = f32[] constant({})\n"
                                      "  ROOT r = f32[40000] rng(a, b), distribution={}\n",
                                      a, b, distribution)),
                {});
    double sum = 0, squares = 0;
    for (double x : got) sum += x, squares += x * x;
    const double mean = sum / got.size();
    return std::pair(mean, std::sqrt(squares / got.size() - mean * mean));
  };
  const auto [uniform_mean, uniform_deviation] = moments("rng_uniform", -1, 3);
  EXPECT_NEAR(uniform_mean, 1, 0.03);
  EXPECT_NEAR(uniform_deviation, 4 / std::sqrt(12.0), 0.03);
  const auto [normal_mean, normal_deviation] = moments("rng_normal", 2, 3);
  EXPECT_NEAR(normal_mean, 2, 0.08);
  EXPECT_NEAR(normal_deviation, 3, 0.08);
}

TEST(RngGetAndUpdateState, CountsFromXlasStart) {
  const auto got = run_one(module_of("  a = u64[2] rng-get-and-update-state(), delta=5\n"
                                     "  b = u64[2] rng-get-and-update-state(), delta=5\n"
                                     "  ROOT t = (u64[2], u64[2]) tuple(a, b)\n"),
                           {});
  EXPECT_EQ(got, (Numbers{0x7012395, 0, 0x701239a, 0}));
}

TEST(DimensionSize, SetThenGet) {
  const auto got = run_one(module_of("  x = f32[4] parameter(0)\n  n = s32[] constant(3)\n"
                                     "  d = f32[<=4] set-dimension-size(x, n), dimensions={0}\n"
                                     "  ROOT g = s32[] get-dimension-size(d), dimensions={0}\n"),
                           {f32({4}, {1, 2, 3, 4})});
  EXPECT_EQ(got, (Numbers{3}));
}

TEST(DimensionSize, BeyondTheBoundIsAnError) {
  const auto got = run(module_of("  x = f32[4] parameter(0)\n  n = s32[] constant(5)\n"
                                 "  ROOT d = f32[<=4] set-dimension-size(x, n), dimensions={0}\n"),
                       {{f32({4}, {1, 2, 3, 4})}});
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().kind, ErrorKind::Evaluation);
}

TEST(DynamicReshape, ElementsThatCountKeepTheirOrder) {
  const auto got = run_one(
      module_of(
          "  x = f32[2,4] parameter(0)\n  n = s32[] constant(3)\n  two = s32[] constant(2)\n"
          "  d = f32[2,<=4] set-dimension-size(x, n), dimensions={1}\n  six = s32[] constant(6)\n"
          "  ROOT r = f32[<=8] dynamic-reshape(d, six)\n"),
      {f32({2, 4}, {1, 2, 3, 99, 4, 5, 6, 99})});
  ASSERT_EQ(got.size(), 8u);
  EXPECT_EQ(Numbers(got.begin(), got.begin() + 6), (Numbers{1, 2, 3, 4, 5, 6}));
}

}  // namespace
}  // namespace hilo::test

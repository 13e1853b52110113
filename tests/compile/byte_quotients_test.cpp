// Quotients and remainders of all bytes by constants, permuted and multiplied.
#include "both.h"

namespace hilo::test {
namespace {

void expect_same(const std::string& text, uint64_t seed) {
  const auto both = run_both(text, seed, 1, processor_of(seed));
  ASSERT_TRUE(both) << to_string(both.error()) << text;
  EXPECT_TRUE(same_bits(both->compiled, both->evaluated)) << processor_of(seed) << text;
}

std::string quotients(std::string_view type, std::string_view op, int divisor, int64_t size) {
  return fmt::format(R"(HloModule m
ENTRY e {{
  x = {0}[{3},{4}] parameter(0)
  n = s32[{3},{4}] iota(), iota_dimension=0
  k = s32[{3},{4}] iota(), iota_dimension=1
  size = s32[] constant({4})
  sizes = s32[{3},{4}] broadcast(size), dimensions={{}}
  first = s32[{3},{4}] multiply(n, sizes)
  place = s32[{3},{4}] add(first, k)
  all = {0}[{3},{4}] convert(place)
  c = {0}[] constant({2})
  b = {0}[{3},{4}] broadcast(c), dimensions={{}}
  q = {0}[{3},{4}] {1}(all, b)
  r = {0}[{3},{4}] {1}(x, b)
  reversed = {0}[{3},{4}] reverse(q), dimensions={{0,1}}
  square = {0}[{3},{4}] multiply(reversed, q)
  product = {0}[{3},{4}] multiply(reversed, r)
  ROOT t = ({0}[{3},{4}], {0}[{3},{4}], {0}[{3},{4}]) tuple(q, square, product)
}}
)",
                     type, op, divisor, 256 / size, size);
}

TEST(ByteQuotients, OfAllBytes) {
  uint64_t seed = 0;
  for (std::string_view op : {"divide", "remainder"})
    for (int64_t size : {4, 8, 16, 64})
      for (const auto& [type, divisors] : {std::pair{"u8", std::vector{1, 3, 7, 10, 128, 255}},
                                           std::pair{"s8", std::vector{3, -5, 100, 127, -1, -128}}})
        for (int divisor : divisors) expect_same(quotients(type, op, divisor, size), ++seed);
}

// Rows of a few bytes each, of which every fourth are divided together.
TEST(ByteQuotients, OfShortRowsTimesThoseOfOthers) {
  for (std::string_view op : {"divide", "remainder"})
    for (std::string_view type : {"u8", "s8"})
      for (uint64_t seed : {0, 3, 6})
        expect_same(fmt::format(R"(HloModule m
ENTRY e {{
  p = {0}[2,3,4] parameter(0)
  three = {0}[] constant(3)
  b = {0}[2,3,4] broadcast(three), dimensions={{}}
  r = {0}[2,3,4] {1}(p, b)
  v = {0}[2,3,4] reverse(r), dimensions={{0,1}}
  ROOT q = {0}[2,3,4] multiply(v, r)
}}
)",
                                type, op),
                    seed);
}

}  // namespace
}  // namespace hilo::test

// Results that no cache holds are stored past the caches, with the same values.
#include "large_arrays.h"

namespace hilo::test {
namespace {

// Element by element; rows; places that move; of 2^25 bytes and of half of that.
std::string elements(int64_t rows) {
  return fmt::format(R"(HloModule m
ENTRY e {{
  x = bf16[{0}] parameter(0)
  f = f32[{0}] convert(x)
  ROOT r = f32[{0}] multiply(f, f) }}
)",
                     rows * 1024);
}
// Stored narrower than it is computed.
std::string narrowed(int64_t rows) {
  return fmt::format(R"(HloModule m
ENTRY e {{
  x = s8[{0}] parameter(0)
  f = bf16[{0}] convert(x)
  ROOT r = bf16[{0}] multiply(f, f) }}
)",
                     rows * 2048);
}
std::string moved(int64_t rows) {
  return fmt::format(R"(HloModule m
ENTRY e {{
  x = f32[8,{0},128] parameter(0)
  ROOT r = f32[{0},8,128] transpose(x), dimensions={{1,0,2}} }}
)",
                     rows);
}

int64_t count_streamed(std::string_view text) { return count_in_code(text, "!nontemporal"); }

TEST(NonTemporalStores, GiveTheSameValues) {
  constexpr int64_t large = 1 << 13;
  for (const auto& make : {elements, narrowed, rows_less_sums, moved}) {
    const auto both = run_both(make(large), 1, 3);
    ASSERT_TRUE(both) << to_string(both.error());
    EXPECT_LE(largest_difference(both->compiled, both->evaluated), 1e-6) << make(large);
#ifdef __x86_64__
    EXPECT_GT(count_streamed(make(large)), 0) << make(large);
    EXPECT_EQ(count_streamed(make(large / 2)), 0) << make(large);
#endif
  }
}

// Memory of an argument may lie anywhere, and a result over its operand is in the cache.
TEST(NonTemporalStores, NotOverArguments) {
  EXPECT_EQ(count_streamed(R"(HloModule m, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY e {
  x = f32[8388608] parameter(0)
  ROOT r = f32[8388608] multiply(x, x) }
)"),
            0);
}

}  // namespace
}  // namespace hilo::test

// Reductions of arrays that come from memory: of rows that are read as several pieces at once, and
// of columns whose tiles are combined together. Sums of multiples of 1/8 are exact in any order.
#include "both.h"

namespace hilo::test {
namespace {

constexpr std::string_view combiners = R"(
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
add_bf16 { a = bf16[] parameter(0)
  b = bf16[] parameter(1)
  ROOT s = bf16[] add(a, b) }
least { v = s32[] parameter(0)
  i = s32[] parameter(1)
  w = s32[] parameter(2)
  j = s32[] parameter(3)
  p = pred[] compare(v, w), direction=LE
  m = s32[] select(p, v, w)
  k = s32[] select(p, i, j)
  ROOT t = (s32[], s32[]) tuple(m, k) }
)";

// Sums of floats, the least of integers and its place, and sums of what two arrays are joined to.
std::string reduced(int64_t rows, int64_t columns, int dim) {
  const int64_t kept = dim == 1 ? rows : columns, first = columns / 3;
  return fmt::format(R"(HloModule m
{4}
ENTRY e {{
  x = f32[{0},{1}] parameter(0)
  h = bf16[{0},{1}] parameter(1)
  n = s32[{0},{1}] parameter(2)
  zero = f32[] constant(0.5)
  half = bf16[] constant(0.5)
  most = s32[] constant(100)
  none = s32[] constant(-1)
  places = s32[{0},{1}] iota(), iota_dimension={2}
  front = f32[{0},{5}] slice(x), slice={{[0:{0}], [0:{5}]}}
  back = f32[{0},{6}] slice(x), slice={{[0:{0}], [{5}:{1}]}}
  turned = f32[{0},{1}] concatenate(back, front), dimensions={{1}}
  p = f32[{3}] reduce(x, zero), dimensions={{{2}}}, to_apply=add
  q = bf16[{3}] reduce(h, half), dimensions={{{2}}}, to_apply=add_bf16
  r = (s32[{3}], s32[{3}]) reduce(n, places, most, none), dimensions={{{2}}}, to_apply=least
  s = f32[{3}] reduce(turned, zero), dimensions={{{2}}}, to_apply=add
  ROOT t = (f32[{3}], bf16[{3}], (s32[{3}], s32[{3}]), f32[{3}]) tuple(p, q, r, s) }}
)",
                     rows, columns, dim, kept, combiners, first, columns - first);
}

void expect_as_evaluated(const std::string& text) {
  for (const std::string& processor : processors()) {
    const auto one = run_both(text, 1, 1, processor);
    expect_native(one, text);
    for (const int threads : {2, 7}) {
      const auto more = run_both(text, 1, threads, processor);
      ASSERT_TRUE(one && more);
      EXPECT_TRUE(same_bits(one->compiled, more->compiled)) << processor << text;
    }
  }
}

TEST(LargeReduces, RowsOfAnyLength) {
  for (const int64_t columns : {16384, 16384 + 63, 32768 + 17, 40001})
    expect_as_evaluated(reduced(3, columns, 1));
}

TEST(LargeReduces, ColumnsOfAnyNumber) {
  for (const int64_t columns : {512, 1024, 1100, 2048, 2900})
    expect_as_evaluated(reduced((1 << 20) / columns + 5, columns, 0));
}

}  // namespace
}  // namespace hilo::test

// Updates of parts of arrays among what is elementwise: each place chooses, and nothing is stored.
#include "both.h"

namespace hilo::test {
namespace {

struct Row {
  const char* name;
  int64_t most_temp;  // bytes
  const char* body;
};

constexpr int64_t column = 40 * 4, array = 40 * 260 * 4;

const Row rows[] = {{"a number in a column", 0, R"(
  o = f32[] constant(3)
  u = f32[40,1] broadcast(o), dimensions={}
  d = f32[40,260] dynamic-update-slice(a, u, zero, nine)
  ROOT r = f32[40,260] abs(d))"},
                    {"a column, turned and reduced", 0, R"(
  u = f32[40,1] parameter(1)
  d = f32[40,260] dynamic-update-slice(a, u, zero, nine)
  t = f32[40,260] reverse(d), dimensions={1}
  ROOT r = f32[260] reduce(t, least), dimensions={0}, to_apply=max)"},
                    {"a line that is computed", 260 * 4, R"(
  u = f32[1,260] parameter(1)
  e = f32[1,260] sqrt(u)
  d = f32[40,260] dynamic-update-slice(a, e, nine, zero)
  ROOT r = f32[40,260] abs(d))"},
                    {"cheap lines that are most of the array", 0, R"(
  u = f32[30,260] parameter(1)
  n = f32[30,260] multiply(u, u)
  d = f32[40,260] dynamic-update-slice(a, n, nine, zero)
  ROOT r = f32[40,260] abs(d))"},
                    {"two lines at places out of bounds", 0, R"(
  u = f32[2,260] parameter(1)
  p = s32[] parameter(2)
  q = s32[] multiply(p, nine)
  d = f32[40,260] dynamic-update-slice(a, u, q, zero)
  ROOT r = f32[40,260] abs(d))"},
                    {"a part of lines is written where the array is", array, R"(
  u = f32[7,100] parameter(1)
  d = f32[40,260] dynamic-update-slice(a, u, nine, nine)
  ROOT r = f32[40,260] abs(d))"},
                    {"six columns one after the other", array + column, R"(
  u = f32[40,1] parameter(1)
  two = s32[] constant(2)
  b = f32[40,260] dynamic-update-slice(a, u, zero, two)
  v = f32[40,1] negate(u)
  c = f32[40,260] dynamic-update-slice(b, v, zero, nine)
  m = f32[40,260] dynamic-update-slice(c, u, zero, zero)
  n = f32[40,260] dynamic-update-slice(m, v, nine, nine)
  o = f32[40,260] dynamic-update-slice(n, u, zero, nine)
  d = f32[40,260] dynamic-update-slice(o, v, zero, two)
  ROOT r = f32[40,260] abs(d))"},
                    {"the part is of what it is put into", 0, R"(
  u = f32[40,1] slice(x), slice={[0:40], [3:4]}
  d = f32[40,260] dynamic-update-slice(x, u, zero, nine)
  ROOT r = f32[40,260] subtract(d, x))"},
                    {"a column beside numbers of each line", 2 * column, R"(
  u = f32[40,1] parameter(1)
  d = f32[40,260] dynamic-update-slice(a, u, zero, nine)
  s = f32[40] reduce(d, least), dimensions={1}, to_apply=max
  w = f32[40,260] broadcast(s), dimensions={0}
  ROOT r = f32[40,260] subtract(x, w))"}};

TEST(ChosenUpdates, AsEvaluatedAndNotStored) {
  for (const Row& row : rows)
    for (const uint64_t seed : {0, 3, 6}) {
      const std::string text = std::string(R"(HloModule m
max {
  k = f32[] parameter(0)
  l = f32[] parameter(1)
  ROOT m = f32[] maximum(k, l)
}
ENTRY e {
  x = f32[40,260] parameter(0)
  a = f32[40,260] negate(x)
  zero = s32[] constant(0)
  nine = s32[] constant(9)
  least = f32[] constant(-inf))") +
                               row.body + "\n}\n";
      const auto both = run_both(text, 1, 1, processor_of(seed));
      expect_native(both, text);
      ASSERT_TRUE(both);
      EXPECT_LE(both->report.temp_bytes, row.most_temp) << row.name;
    }
}

}  // namespace
}  // namespace hilo::test

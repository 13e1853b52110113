// Parts of arrays that are spread over these again: computed of parts, so that nothing is stored.
#include "both.h"

namespace hilo::test {
namespace {

struct Row {
  const char* name;
  int64_t most_temp;  // bytes
  const char* body;
};

constexpr int64_t array = 200 * 70 * 4;

const Row rows[] = {{"a line", 70 * 4, R"(
  s = f32[1,70] slice(q), slice={[3:4], [0:70]}
  l = f32[70] reshape(s)
  b = f32[200,70] broadcast(l), dimensions={1}
  ROOT r = f32[200,70] subtract(q, b))"},
                    {"a column of what is made of numbers of each line and column", 200 * 4, R"(
  v = f32[70] parameter(1)
  w = f32[200] parameter(2)
  wide = f32[200,70] broadcast(v), dimensions={1}
  high = f32[200,70] broadcast(w), dimensions={0}
  m = f32[200,70] multiply(wide, q)
  n = f32[200,70] subtract(m, high)
  s = f32[200,1] slice(n), slice={[0:200], [69:70]}
  l = f32[200] reshape(s)
  b = f32[200,70] broadcast(l), dimensions={0}
  ROOT r = f32[200,70] divide(n, b))"},
                    {"every tenth line, one of them for each", 20 * 70 * 4, R"(
  s = f32[20,70] slice(q), slice={[0:200:10], [0:70]}
  b = f32[20,10,70] broadcast(s), dimensions={0,2}
  l = f32[200,70] reshape(b)
  ROOT r = f32[200,70] add(q, l))"},
                    {"of what is stored anyway", array, R"(
  o = f32[200,70] sort(q), dimensions={1}, to_apply=less
  s = f32[1,70] slice(q), slice={[0:1], [0:70]}
  l = f32[70] reshape(s)
  b = f32[200,70] broadcast(l), dimensions={1}
  ROOT r = f32[200,70] subtract(o, b))"}};

TEST(HoistBroadcastSlices, AsEvaluatedAndNotStored) {
  for (const Row& row : rows) {
    const std::string text = std::string(R"(HloModule m
less {
  k = f32[] parameter(0)
  l = f32[] parameter(1)
  ROOT m = pred[] compare(k, l), direction=LT
}
ENTRY e {
  x = f32[200,70] parameter(0)
  a = f32[200,70] abs(x)
  q = f32[200,70] sqrt(a))") +
                             row.body + "\n}\n";
    const auto both = run_both(text);
    expect_native(both, text);
    ASSERT_TRUE(both);
    EXPECT_LE(both->report.temp_bytes, row.most_temp) << row.name;
  }
}

}  // namespace
}  // namespace hilo::test

// Rows that are reduced by lanes, of all sizes of elements, with rests and with several reductions
// in one loop. The numbers are small multiples of 1 / 8, so that sums are exact in any order.
#include "both.h"

namespace hilo::test {
namespace {

std::string row_reductions(std::string_view type, std::string_view op, std::string_view init,
                           int size) {
  return fmt::format(R"(HloModule m
combine {{
  a = {0}[] parameter(0)
  b = {0}[] parameter(1)
  ROOT r = {0}[] {1}(a, b)
}}
ENTRY e {{
  x = {0}[9,{3}] parameter(0)
  y = {0}[9,{3}] parameter(1)
  i = {0}[] constant({2})
  p = {0}[9] reduce(x, i), dimensions={{1}}, to_apply=combine
  w = {0}[9,{3}] broadcast(p), dimensions={{0}}
  z = {0}[9,{3}] maximum(y, w)
  q = {0}[9] reduce(z, i), dimensions={{1}}, to_apply=combine
  ROOT t = ({0}[9], {0}[9], {0}[9,{3}]) tuple(p, q, z)
}}
)",
                     type, op, init, size);
}

TEST(LaneSums, RowsByLanes) {
  for (std::string_view type : {"f32", "f64", "s8", "s32", "u64", "f16"})
    for (int size : {64, 65, 127, 768}) {
      expect_native(row_reductions(type, "add", "3", size));
      expect_native(row_reductions(type, "maximum", "1", size));
      expect_native(row_reductions(type, "minimum", "1", size));
    }
  for (int size : {64, 200}) expect_native(row_reductions("pred", "or", "false", size));
}

TEST(LaneSums, SameBitsForAnyThreads) {
  const std::string text = row_reductions("f32", "add", "0.125", 20000);
  const auto one = run_both(text, 1, 1), seven = run_both(text, 1, 7);
  ASSERT_TRUE(one && seven);
  EXPECT_EQ(largest_difference(one->compiled, one->evaluated), 0);
  EXPECT_TRUE(same_bits(one->compiled, seven->compiled));
}

}  // namespace
}  // namespace hilo::test

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

TEST(PromoteAccumulators, RowsByLanes) {
  for (std::string_view type : {"f32", "f64", "s8", "s32", "u64", "f16"})
    for (int size : {5, 9, 16, 31, 50, 64, 65, 127, 300, 768}) {
      expect_native(row_reductions(type, "add", "3", size));
      expect_native(row_reductions(type, "maximum", "1", size));
      expect_native(row_reductions(type, "minimum", "1", size));
    }
  for (int size : {20, 64, 200}) expect_native(row_reductions("pred", "or", "false", size));
}

// The first of the largest, whose lanes are read twice where a row leaves a rest.
TEST(PromoteAccumulators, PlacesOfLargestByLanes) {
  for (int size : {5, 16, 23, 50, 64, 100, 300})
    expect_native(fmt::format(R"(HloModule m
most {{
  a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  k = s32[] parameter(3)
  gt = pred[] compare(a, b), direction=GT
  un = pred[] compare(a, a), direction=NE
  g = pred[] or(gt, un)
  eq = pred[] compare(a, b), direction=EQ
  lt = pred[] compare(i, k), direction=LT
  el = pred[] and(eq, lt)
  h = pred[] or(g, el)
  v = f32[] select(g, a, b)
  w = s32[] select(h, i, k)
  ROOT t = (f32[], s32[]) tuple(v, w)
}}
ENTRY e {{
  x = f32[9,{0}] parameter(0)
  j = s32[9,{0}] iota(), iota_dimension=1
  n = f32[] constant(-inf)
  z = s32[] constant(0)
  ROOT r = (f32[9], s32[9]) reduce(x, j, n, z), dimensions={{1}}, to_apply=most
}}
)",
                              size));
}

// Rows of several dimensions, the innermost one short.
TEST(PromoteAccumulators, ShortInnermostDimension) {
  for (int size : {4, 7, 28})
    expect_native(fmt::format(R"(HloModule m
combine {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}}
ENTRY e {{
  x = f32[5,3,{0},{0}] parameter(0)
  z = f32[] constant(1)
  ROOT r = f32[3] reduce(x, z), dimensions={{0,2,3}}, to_apply=combine
}}
)",
                              size));
}

TEST(PromoteAccumulators, PredicatesOfColumns) {
  for (std::string_view op : {"or", "and"})
    for (std::string_view dims : {"0", "1", "0,1", "2"}) {
      const std::string_view kept = dims == "0" ? "50,70" : dims == "1" ? "9,70" : "9,50";
      const std::string result = dims == "0,1" ? "70" : std::string(kept);
      expect_native(fmt::format(R"(HloModule m
combine {{
  a = pred[] parameter(0)
  b = pred[] parameter(1)
  ROOT r = pred[] {0}(a, b)
}}
ENTRY e {{
  x = s32[9,50,70] parameter(0)
  c = s32[] constant({1})
  l = s32[9,50,70] broadcast(c), dimensions={{}}
  p = pred[9,50,70] compare(x, l), direction={2}
  i = pred[] constant({3})
  ROOT r = pred[{4}] reduce(p, i), dimensions={{{5}}}, to_apply=combine
}}
)",
                                op, op == "or" ? 19 : -20, op == "or" ? "GT" : "GE",
                                op == "or" ? "false" : "true", result, dims));
    }
}

// A NaN anywhere in a row is its largest element, and its smallest.
TEST(PromoteAccumulators, NanOfEveryPlace) {
  for (int size : {5, 20, 100})
    for (std::string_view op : {"maximum", "minimum"}) {
      const std::string text = fmt::format(R"(HloModule m
combine {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] {1}(a, b)
}}
ENTRY e {{
  x = f32[{0},{0}] parameter(0)
  i = f32[] constant(1)
  ROOT r = f32[{0}] reduce(x, i), dimensions={{1}}, to_apply=combine
}}
)",
                                           size, op);
      Literal in = Literal::uninitialized(Shape::array(ElementType::F32, {size, size}));
      for (int i = 0; i < size * size; ++i)
        in.mutable_data<float>()[static_cast<size_t>(i)] = i % (size + 1) == 0 ? NAN
                                                           : i % 7 == 0 ? HUGE_VALF
                                                                        : static_cast<float>(-i);
      const auto both = run_both_on(text, {in});
      expect_native(both, text);
      for (float x : both->compiled.data<float>()) EXPECT_TRUE(std::isnan(x)) << text;
    }
}

TEST(PromoteAccumulators, SameBitsForAnyThreads) {
  const std::string text = row_reductions("f32", "add", "0.125", 20000);
  const auto one = run_both(text, 1, 1), seven = run_both(text, 1, 7);
  ASSERT_TRUE(one && seven);
  EXPECT_EQ(largest_difference(one->compiled, one->evaluated), 0);
  EXPECT_TRUE(same_bits(one->compiled, seven->compiled));
}

}  // namespace
}  // namespace hilo::test

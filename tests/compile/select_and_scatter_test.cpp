// Windows of all forms against the evaluator, bit for bit.
#include "both.h"

namespace hilo::test {
namespace {

struct Case {
  std::string_view array, source, window;
};
constexpr Case cases[] = {
    {"2,8,8,5", "2,4,4,5", "size=1x2x2x1 stride=1x2x2x1"},
    {"2,9,9,300", "2,5,5,300", "size=1x3x3x1 stride=1x2x2x1 pad=0_0x1_1x1_1x0_0"},
    {"2,9,10,6", "2,3,2,6", "size=1x2x3x1 stride=1x4x4x1 pad=0_0x2_0x0_0x0_0"},
    {"2,5,9,9", "2,5,4,4", "size=1x1x3x3 stride=1x1x2x2"},
    {"2,5,9,9", "2,5,5,5", "size=1x1x2x2 stride=1x1x2x2 pad=0_0x0_0x0_1x1_0"},
    {"7,40", "6,39", "size=2x2"},
    {"3,40", "3,32", "size=1x5 rhs_dilate=1x2"},
    {"40,9,1", "6,9,1", "size=5x1x1 stride=7x1x1"},
    {"9,8", "3,8", "size=3x1 stride=2x1 pad=-2_0x0_0"},
    {"5,6", "9,10", "size=1x1 pad=2_2x1_3"},
    {"70", "35", "size=2 stride=2"},
    {"1,1,4", "3,3,4", "size=2x2x1 pad=2_1x2_1x0_0"},
};

std::string module_of(const Case& c, std::string_view type, std::string_view direction,
                      std::string_view op) {
  return fmt::format(
      "HloModule m\ns {{\n  x = {0}[] parameter(0)\n  y = {0}[] parameter(1)\n  ROOT z = pred[] "
      "compare(x, y), direction={4}\n}}\nf {{\n  x = {0}[] parameter(0)\n  y = {0}[] parameter(1)\n"
      "  ROOT z = {0}[] {5}(x, y)\n}}\nENTRY e {{\n  a = {0}[{1}] parameter(0)\n  b = {0}[{2}] "
      "parameter(1)\n  i = {0}[] parameter(2)\n  ROOT r = {0}[{1}] select-and-scatter(a, b, i), "
      "window={{{3}}}, select=s, scatter=f\n}}\n",
      type, c.array, c.source, c.window, direction, op);
}

TEST(SelectAndScatter, AllFormsHaveCode) {
  for (const Case& c : cases) {
    expect_native(module_of(c, "f32", "GE", "add"));
    expect_native(module_of(c, "f32", "GT", "subtract"));
    expect_native(module_of(c, "bf16", "GE", "add"));
    expect_native(module_of(c, "s8", "LE", "maximum"));
    expect_native(module_of(c, "f64", "LT", "multiply"));
  }
}

TEST(SelectAndScatter, AnyNumberOfThreadsGivesTheSameBits) {
  const std::string text =
      module_of({"4,65,64,70", "4,33,33,70", "size=1x3x3x1 stride=1x2x2x1 pad=0_0x1_1x1_2x0_0"},
                "f32", "GE", "add");
  for (int threads : {1, 2, 7}) {
    const auto both = run_both(text, 3, threads);
    ASSERT_TRUE(both) << to_string(both.error());
    EXPECT_TRUE(both->report.evaluated.empty());
    EXPECT_EQ(largest_difference(both->compiled, both->evaluated), 0) << threads;
  }
}

TEST(SelectAndScatter, NanIsWhatTheComparisonMakesOfIt) {
  const auto both = run_both(R"(HloModule m
s { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT z = pred[] compare(x, y), direction=GE }
f { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT z = f32[] add(x, y) }
ENTRY e { a = f32[2,12] constant({{1,nan,2,nan,3,1,1,1,-0,0,nan,nan},{nan,2,1,nan,nan,nan,0,-0,5,6,inf,inf}})
 b = f32[2,6] parameter(0)
 i = f32[] constant(0)
 t = f32[12,2] transpose(a), dimensions={1,0}
 u = f32[6,2] transpose(b), dimensions={1,0}
 r = f32[2,12] select-and-scatter(a, b, i), window={size=1x2 stride=1x2}, select=s, scatter=f
 v = f32[12,2] select-and-scatter(t, u, i), window={size=2x1 stride=2x1}, select=s, scatter=f
 ROOT o = (f32[2,12], f32[12,2]) tuple(r, v) }
)");
  ASSERT_TRUE(both) << to_string(both.error());
  EXPECT_EQ(largest_difference(both->compiled, both->evaluated), 0);
}

}  // namespace
}  // namespace hilo::test

// Windows of all forms against the evaluator.
#include "both.h"

namespace hilo::test {
namespace {

std::string module_of(std::string_view type, std::string_view in, std::string_view out,
                      std::string_view window, std::string_view op, std::string_view start) {
  return fmt::format(
      "HloModule m\nc {{\n  x = {0}[] parameter(0)\n  y = {0}[] parameter(1)\n  ROOT z = {0}[] "
      "{4}(x, "
      "y)\n}}\nENTRY e {{\n  a = {0}[{1}] parameter(0)\n  s = {0}[] constant({5})\n  ROOT r = "
      "{0}[{2}] reduce-window(a, s), window={{{3}}}, to_apply=c\n}}\n",
      type, in, out, window, op, start);
}

struct Case {
  std::string_view in, out, window;
};
constexpr Case cases[] = {
    {"2,9,9,5", "2,5,5,5", "size=1x3x3x1 stride=1x2x2x1 pad=0_0x1_1x1_1x0_0"},
    {"2,9,9,5", "2,7,7,5", "size=1x3x3x1"},
    {"3,40", "3,40", "size=1x5 pad=0_0x2_2"},
    {"3,40", "3,14", "size=1x4 stride=1x3 pad=0_0x3_1"},
    {"3,40", "3,32", "size=1x5 rhs_dilate=1x2"},
    {"7,3000", "4,1000", "size=2x3 stride=2x3 pad=1_0x0_0"},
    {"20,1", "6,1", "size=5x1 stride=3x1"},
    {"5,6", "9,10", "size=1x1 pad=2_2x1_3"},
    {"1000", "1000", "size=1000 pad=999_0"},
    {"4,700", "4,700", "size=1x700 pad=0_0x699_0"},
    {"300,11", "300,11", "size=300x1 pad=299_0x0_0"},
    {"100,1000", "4,32", "size=32x32 stride=32x32 pad=14_14x12_12"},
    {"4,64,1", "1,2,1", "size=4x32x1 stride=4x32x1"},
    {"700", "22", "size=400 stride=32 pad=200_200"},
    {"300,11", "301,11", "size=300x1 pad=300_0x0_0"},
    {"4,600", "4,600", "size=1x600 pad=0_0x0_599"},
    {"2,600,3,7", "2,600,3,7", "size=1x600x1x1 pad=0_0x599_0x0_0x0_0"},
    {"3,270,1,300", "3,271,1,300", "size=1x270x1x1 pad=0_0x0_270x0_0x0_0"},
    {"20,270", "20,270", "size=20x1 pad=0_19x0_0"},
    {"4,600", "4,601", "size=1x600 pad=0_0x0_600"},
    {"4,600", "4,601", "size=1x700 pad=0_0x700_0"},
};

TEST(ReduceWindow, AllFormsHaveCode) {
  for (const Case& c : cases) {
    expect_native(module_of("f32", c.in, c.out, c.window, "add", "0.5"), 1e-5);
    expect_native(module_of("f32", c.in, c.out, c.window, "maximum", "-inf"));
    expect_native(module_of("s32", c.in, c.out, c.window, "add", "3"));
    expect_native(module_of("bf16", c.in, c.out, c.window, "minimum", "inf"));
  }
}

// Small windows, which are straight code: pieces at the ends of each dimension have fewer places,
// rows of a few results none of their own, dimensions without windows lie side by side.
constexpr Case small_cases[] = {
    {"5,40,2", "5,40,2", "size=1x5x1 pad=0_0x2_2x0_0"},
    {"5,40,2", "5,19,2", "size=1x3x1 stride=1x2x1"},
    {"7,9,5,8", "6,9,5,4", "size=2x1x1x5"},
    {"7,9,5,8", "7,9,5,8", "size=2x1x1x5 pad=1_0x0_0x0_0x2_2"},
    {"4,5,6,7", "4,5,3,7", "size=1x1x2x1 stride=1x1x2x1"},
    {"30,31", "30,31", "size=3x3 pad=1_1x1_1"},
    {"6,5000", "6,5000", "size=3x3 pad=1_1x1_1"},
    {"9000", "9002", "size=3 pad=2_2"},
    {"9000", "3000", "size=4 stride=3 pad=1_0"},
    {"2,14,14,16", "2,7,7,16", "size=1x3x3x1 stride=1x2x2x1 pad=0_0x0_1x0_1x0_0"},
    {"2,14,14,20", "2,14,14,20", "size=1x5x5x1 pad=0_0x2_2x2_2x0_0"},
    {"40,33", "40,33", "size=1x7 pad=0_0x3_3"},
    {"40,33", "40,33", "size=15x1 pad=7_7x0_0"},
    {"40,3", "40,9", "size=1x2 pad=0_0x4_3"},
    {"40,3", "45,5", "size=1x3 pad=2_3x2_2"},
    {"50,3", "50,3", "size=1x3 pad=0_0x1_1 rhs_dilate=1x1"},
    {"50,30", "50,30", "size=1x3 pad=0_0x14_14 rhs_dilate=1x14"},
    {"3,4,5", "1,1,1", "size=3x4x5"},
    {"3,4,5", "7,8,9", "size=1x1x1 pad=2_2x2_2x2_2"},
    {"600,2", "600,2", "size=1x2 pad=0_0x1_0"},
    {"600,2", "600,2", "size=1x2 pad=0_0x0_1"},
    {"600,3", "600,4", "size=1x3 pad=0_0x3_0"},
    {"64,16", "64,17", "size=1x16 pad=0_0x0_16"},
    {"30,600,3", "30,600,3", "size=1x600x1 pad=0_0x599_0x0_0"},
    {"30,600,8", "30,601,8", "size=1x600x1 pad=0_0x0_600x0_0"},
    {"3,50,2,2", "3,51,2,2", "size=1x50x1x1 pad=0_0x50_0x0_0x0_0"},
};

struct Combining {
  std::string_view type, op, start;
  double tolerance;
};
constexpr Combining combinings[] = {
    {"f64", "minimum", "inf", 0}, {"bf16", "maximum", "-inf", 0}, {"bf16", "add", "0", 1e-2},
    {"s8", "add", "3", 0},        {"s32", "maximum", "-7", 0},    {"u16", "multiply", "1", 0},
    {"s64", "add", "0", 0},       {"pred", "or", "false", 0},
};

TEST(ReduceWindow, SmallOnesOfAllTypes) {
  size_t next = 0;
  for (const Case& c : small_cases)
    for (const Combining& by :
         {Combining{"f32", "add", "0.5", 1e-5}, combinings[next % std::size(combinings)],
          combinings[(next + 3) % std::size(combinings)]}) {
      const std::string text = module_of(by.type, c.in, c.out, c.window, by.op, by.start);
      expect_native(run_both(text, 1, 3, processor_of(next++)), text, by.tolerance);
    }
}

// Not one op: each result alone, in the order of its window; running results as well.
TEST(ReduceWindow, ByAnyComputation) {
  const auto module = [](std::string_view in, std::string_view out, std::string_view window) {
    return fmt::format(R"(HloModule m
c {{ x = f32[] parameter(0)
  y = f32[] parameter(1)
  d = f32[] subtract(x, y)
  h = f32[] constant(0.5)
  m = f32[] multiply(d, h)
  ROOT z = f32[] add(y, m) }}
ENTRY e {{ a = f32[{0}] parameter(0)
  s = f32[] constant(0.25)
  ROOT r = f32[{1}] reduce-window(a, s), window={{{2}}}, to_apply=c }}
)",
                       in, out, window);
  };
  expect_native(module("2,9,9,5", "2,5,5,5", "size=1x3x3x1 stride=1x2x2x1 pad=0_0x1_1x1_1x0_0"));
  expect_native(module("3,40", "3,14", "size=1x4 stride=1x3 pad=0_0x3_1"));
  expect_native(module("4,600", "4,600", "size=1x600 pad=0_0x599_0"));
  expect_native(module("600,3", "601,3", "size=600x1 pad=600_0x0_0"));
  expect_native(module("4,600", "4,600", "size=1x600 pad=0_0x0_599"));
  expect_native(module("600,3", "601,3", "size=600x1 pad=0_600x0_0"));
  expect_native(module("4,600", "4,600", "size=1x301 pad=0_0x150_150"));
}

TEST(ReduceWindow, OfSeveralArrays) {
  const auto module = [](std::string_view out, std::string_view window) {
    return fmt::format(R"(HloModule m
c {{ x = f32[] parameter(0)
  i = s32[] parameter(1)
  y = f32[] parameter(2)
  j = s32[] parameter(3)
  p = pred[] compare(x, y), direction=GE
  v = f32[] select(p, x, y)
  k = s32[] select(p, i, j)
  ROOT t = (f32[], s32[]) tuple(v, k) }}
ENTRY e {{ a = f32[6,400] parameter(0)
  n = s32[6,400] iota(), iota_dimension=1
  s = f32[] constant(-inf)
  z = s32[] constant(-1)
  ROOT r = (f32[{0}], s32[{0}]) reduce-window(a, n, s, z), window={{{1}}}, to_apply=c }}
)",
                       out, window);
  };
  expect_native(module("3,199", "size=2x3 stride=2x2"));
  expect_native(module("7,400", "size=2x3 pad=1_1x1_1"));
  expect_native(module("6,400", "size=1x400 pad=0_0x399_0"));
  expect_native(module("6,400", "size=1x400 pad=0_0x0_399"));
}

// What each window takes of an array goes into its loops where no element is in two windows, or
// results run: nothing is stored between.
void expect_kernels(int64_t kernels, std::string_view in, std::string_view out,
                    std::string_view window, std::string_view made, std::string_view op = "add") {
  const std::string text = fmt::format(R"(HloModule m
c {{ x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] {4}(x, y) }}
ENTRY e {{ a = f32[{0}] parameter(0)
  k = f32[] parameter(1)
  ka = f32[] cosine(k)
  kb = f32[{0}] broadcast(ka), dimensions={{}}
  h = bf16[{0}] convert(a)
  w = f32[{0}] convert(h)
  places = f32[{0}] iota(), iota_dimension=0
  m = f32[{0}] {3}
  s = f32[] constant(0.5)
  ROOT r = f32[{1}] reduce-window(m, s), window={{{2}}}, to_apply=c }}
)",
                                       in, out, window, made, op);
  for (const int threads : {1, 2, 7}) {
    const auto both = run_both(text, 1, threads);
    expect_native(both, text, 1e-5);
    if (both) {
      EXPECT_EQ(both->report.kernels, kernels) << text;
    }
  }
}

TEST(ReduceWindow, ComputesWhatItReadsOnce) {
  constexpr std::string_view cheap = "multiply(w, kb)", dear = "exponential(a)";
  constexpr std::string_view of_features = "size=1x2x2x1 stride=1x2x2x1";
  expect_kernels(1, "2,9,9,5", "2,4,4,5", of_features, cheap);
  expect_kernels(1, "2,9,9,17", "2,4,4,17", of_features, dear, "maximum");
  expect_kernels(1, "2,9,9,5", "2,4,4,5", "size=1x2x2x1 stride=1x3x2x1 pad=0_0x1_1x0_0x0_0", cheap);
  expect_kernels(1, "2,5,9,37", "2,5,4,18", "size=1x1x2x2 stride=1x1x2x2", cheap);
  expect_kernels(1, "3,40", "3,8", "size=1x3 stride=1x5 rhs_dilate=1x2", cheap);
  expect_kernels(1, "4,700", "4,700", "size=1x700 pad=0_0x699_0", cheap);
  expect_kernels(1, "4,600", "4,600", "size=1x600 pad=0_0x0_599", cheap);
  expect_kernels(1, "300,11", "300,11", "size=300x1 pad=299_0x0_0", dear);
  expect_kernels(1, "300,19", "300,19", "size=300x1 pad=0_299x0_0", cheap, "maximum");
}

// Where elements are asked for again, or far from each other and cost more than to read them.
TEST(ReduceWindow, ReadsWhatItWouldComputeAgain) {
  constexpr std::string_view cheap = "multiply(w, kb)", dear = "exponential(a)";
  expect_kernels(2, "2,9,9,5", "2,4,4,5", "size=1x3x3x1 stride=1x2x2x1", cheap);
  expect_kernels(2, "3,40", "3,36", "size=1x5", cheap);
  expect_kernels(2, "2,5,9,36", "2,5,4,18", "size=1x1x2x2 stride=1x1x2x2", dear);
  expect_kernels(2, "4,700", "4,700", "size=1x700 pad=0_0x699_0", dear);
  // Down lines, which have no index.
  expect_kernels(2, "300,11", "300,11", "size=300x1 pad=299_0x0_0", "iota(), iota_dimension=1");
}

TEST(ReduceWindow, OthersAreEvaluated) {
  const std::string text = module_of("f32", "600", "600", "size=301 pad=150_150", "add", "0");
  const auto both = run_both(text);
  ASSERT_TRUE(both) << to_string(both.error());
  EXPECT_EQ(both->report.evaluated.size(), 1u);
  EXPECT_EQ(largest_difference(both->compiled, both->evaluated), 0);
}

// Elements that take many steps are made by vectors, a piece of a row at a time, before they run.
TEST(ReduceWindow, RunningResultsOfWhatIsComputed) {
  for (std::string_view type : {"f32", "bf16"})
    for (auto [results, window] :
         {std::pair(700, "size=1x700 pad=0_0x699_0"), std::pair(700, "size=1x700 pad=0_0x0_699"),
          std::pair(701, "size=1x700 pad=0_0x0_700"), std::pair(701, "size=1x700 pad=0_0x700_0")}) {
      const std::string text = fmt::format(
          R"(HloModule m
c {{
  x = {0}[] parameter(0)
  y = {0}[] parameter(1)
  ROOT z = {0}[] maximum(x, y)
}}
ENTRY e {{
  a = {0}[3,700] parameter(0)
  b = {0}[3,700] parameter(1)
  m = {0}[3,700] multiply(a, b)
  d = {0}[3,700] subtract(m, a)
  n = {0}[3,700] abs(d)
  q = {0}[3,700] multiply(n, b)
  f = {0}[3,700] add(q, m)
  s = {0}[] constant(-3)
  ROOT r = {0}[3,{1}] reduce-window(f, s), window={{{2}}}, to_apply=c
}}
)",
          type, results, window);
      expect_native(text);
    }
}

}  // namespace
}  // namespace hilo::test

// Expected values: loops in NumPy over each window.
#include "wave.h"

namespace hilo::test {
namespace {

constexpr const char* max_f32 =
    "max { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] maximum(a, b)\n}\n";
// A sum that no fast path knows.
constexpr const char* odd_add =
    "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n z = f32[] constant(0)\n"
    " s = f32[] add(a, b)\n ROOT r = f32[] subtract(s, z)\n}\n";

Numbers reduce_window(const Dims& dims, double init, const std::string& out,
                      const std::string& attributes, const std::string& computation) {
  return run_one(
      module_of(fmt::format("  x = {} parameter(0)\n  i = f32[] constant({})\n"
                            "  ROOT r = {} reduce-window(x, i), {}\n",
                            to_string_without_layout(Shape::array(ElementType::F32, dims)), init,
                            out, attributes),
                computation),
      {wave(dims)});
}

TEST(ReduceWindow, MaximumWithStridesAndPadding) {
  EXPECT_EQ(reduce_window({5, 6}, -100, "f32[3,3]",
                          "window={size=3x3 stride=2x2 pad=1_1x0_1}, to_apply=max", max_f32),
            (Numbers{2, 2.5, 0.5, 2.5, 2.5, 2, 2.5, 2, 2}));
}

TEST(ReduceWindow, WideSumsFromBothPaths) {
  const Numbers want{-2,  -1,   -2,  0.5, 1,   -0.5, 1.5, 4,    1,   3.5,  0.5, -2.5, 0,
                     -3,  -0.5, 2,   -1,  1.5, 4,    1,   3.5,  0.5, -2.5, -1,  -3,   1.5,
                     0.5, 3,    3.5, 2,   4,   4,    1,   3.5,  0.5, -2.5, 0,   -3,   -0.5,
                     2,   -1,   1.5, 4,   1,   3.5,  0.5, -2.5, 0,   -2,   -2};
  const std::string window = "window={size=1x7 pad=0_0x6_2}, to_apply=add";
  EXPECT_EQ(reduce_window({2, 23}, 0.5, "f32[2,25]", window, add_f32), want);
  EXPECT_EQ(reduce_window({2, 23}, 0.5, "f32[2,25]", window, odd_add), want);
}

TEST(ReduceWindow, CumulativeSum) {
  EXPECT_EQ(reduce_window({12}, 0, "f32[12]", "window={size=12 pad=11_0}, to_apply=add", add_f32),
            (Numbers{-2.5, -1.5, -2.5, 0, 0.5, -1, 1, 1, -1, 0.5, 0, -2.5}));
}

TEST(ReduceWindow, BothDilations) {
  EXPECT_EQ(reduce_window({4, 5}, 0, "f32[7,2]",
                          "window={size=2x2 stride=1x2 pad=1_0x0_0 lhs_dilate=2x1 rhs_dilate=1x2}"
                          ", to_apply=add",
                          add_f32),
            (Numbers{-3.5, -0.5, -3.5, -0.5, -1.5, 1.5, -1.5, 1.5, 0.5, 3.5, 0.5, 3.5, 2.5, 0}));
}

TEST(ReduceWindow, AWindowOnPaddingAloneIsTheInitialValue) {
  EXPECT_EQ(reduce_window({2}, 7, "f32[5]", "window={size=1 pad=2_1}, to_apply=add", add_f32),
            (Numbers{7, 7, 4.5, 8, 7}));
}

TEST(ReduceWindow, PairsByTheirFirst) {
  const auto got = run_one(
      module_of(
          "  x = f32[6] parameter(0)\n  p = s32[6] iota(), iota_dimension=0\n"
          "  m = f32[] constant(-inf)\n  z = s32[] constant(-1)\n"
          "  ROOT r = (f32[4], s32[4]) reduce-window(x, p, m, z), window={size=3}, to_apply=arg\n",
          "arg { a = f32[] parameter(0)\n i = s32[] parameter(1)\n b = f32[] parameter(2)\n"
          " j = s32[] parameter(3)\n g = pred[] compare(a, b), direction=GE\n"
          " v = f32[] select(g, a, b)\n k = s32[] select(g, i, j)\n"
          " ROOT t = (f32[], s32[]) tuple(v, k)\n}\n"),
      {f32({6}, {3, 1, 4, 1, 5, 9})});
  EXPECT_EQ(got, (Numbers{4, 4, 5, 9, 2, 2, 4, 5}));
}

constexpr const char* ge_f32 =
    "ge { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = pred[] compare(a, b), "
    "direction=GE\n}\n";

TEST(SelectAndScatter, TheFirstLargestOfEachWindowGetsItsGradient) {
  const auto got = run_one(
      module_of("  x = f32[6] parameter(0)\n  s = f32[3] parameter(1)\n  i = f32[] constant(1)\n"
                "  ROOT r = f32[6] select-and-scatter(x, s, i), window={size=3 stride=2 pad=0_1}, "
                "select=ge, scatter=add\n",
                std::string(ge_f32) + add_f32),
      {f32({6}, {2, 2, 7, 1, 3, 8}), f32({3}, {10, 20, 30})});
  EXPECT_EQ(got, (Numbers{1, 1, 31, 1, 1, 31}));
}

TEST(SelectAndScatter, PaddingIsNeverSelected) {
  const auto got = run_one(
      module_of(
          "  x = f32[2,2] parameter(0)\n  s = f32[3,3] parameter(1)\n  i = f32[] constant(0)\n"
          "  ROOT r = f32[2,2] select-and-scatter(x, s, i), window={size=2x2 pad=1_1x1_1}, "
          "select=ge, scatter=add\n",
          std::string(ge_f32) + add_f32),
      {f32({2, 2}, {-5, -4, -3, -2}), f32({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9})});
  EXPECT_EQ(got, (Numbers{1, 5, 11, 28}));
}

}  // namespace
}  // namespace hilo::test

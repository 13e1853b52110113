// Expected values: NumPy's ufunc.at, and by hand where windows fall outside.
#include <cmath>

#include "wave.h"

namespace hilo::test {
namespace {

TEST(Scatter, AddsRowsAndSkipsThoseOutside) {
  const auto got = run_one(
      module_of(
          "  a = f32[3,2] parameter(0)\n  i = s32[4,1] parameter(1)\n  u = f32[4,2] parameter(2)\n"
          "  ROOT s = f32[3,2] scatter(a, i, u), update_window_dims={1}, inserted_window_dims={0}, "
          "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add\n",
          add_f32),
      {wave({3, 2}), whole({4, 1}, {1, 3, 1, -1}), wave({4, 2})});
  EXPECT_EQ(got, (Numbers{-2.5, 1, -3, 2, 0.5, -1.5}));
}

TEST(Scatter, AWindowHalfOutsideIsSkippedWhole) {
  const auto got = run_one(
      module_of(
          "  a = f32[4] parameter(0)\n  i = s32[2,1] parameter(1)\n  u = f32[2,2] parameter(2)\n"
          "  ROOT s = f32[4] scatter(a, i, u), update_window_dims={1}, inserted_window_dims={}, "
          "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add\n",
          add_f32),
      {f32({4}, {0, 0, 0, 0}), whole({2, 1}, {3, 1}), f32({2, 2}, {1, 2, 3, 4})});
  EXPECT_EQ(got, (Numbers{0, 3, 4, 0}));
}

TEST(Scatter, LaterUpdatesReplaceEarlierOnes) {
  for (const std::string body : {"ROOT r = f32[] parameter(1)",
                                 "b = f32[] parameter(1)\n"
                                 " ROOT r = f32[] copy(b)"}) {
    const auto got = run_one(
        module_of(
            "  a = f32[3] parameter(0)\n  i = s32[3,1] parameter(1)\n  u = f32[3] parameter(2)\n"
            "  ROOT s = f32[3] scatter(a, i, u), update_window_dims={}, inserted_window_dims={0}, "
            "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=last\n",
            "last { a = f32[] parameter(0)\n " + body + "\n}\n"),
        {f32({3}, {1, 2, 3}), whole({3, 1}, {2, 0, 2}), f32({3}, {7, 8, 9})});
    EXPECT_EQ(got, (Numbers{8, 2, 9}));
  }
}

TEST(Scatter, TwoArraysByOneComputation) {
  const auto got = run_one(
      module_of(
          "  a = f32[3] parameter(0)\n  b = s32[3] parameter(1)\n  i = s32[2,1] parameter(2)\n"
          "  u = f32[2] parameter(3)\n  v = s32[2] parameter(4)\n"
          "  ROOT s = (f32[3], s32[3]) scatter(a, b, i, u, v), update_window_dims={}, "
          "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, "
          "to_apply=both\n",
          "both { a = f32[] parameter(0)\n b = s32[] parameter(1)\n u = f32[] parameter(2)\n"
          " v = s32[] parameter(3)\n s = f32[] subtract(a, u)\n m = s32[] multiply(b, v)\n"
          " ROOT t = (f32[], s32[]) tuple(s, m)\n}\n"),
      {f32({3}, {10, 20, 30}), whole({3}, {1, 2, 3}), whole({2, 1}, {1, 1}), f32({2}, {1, 2}),
       whole({2}, {5, 7})});
  EXPECT_EQ(got, (Numbers{10, 17, 30, 1, 70, 3}));
}

TEST(Scatter, BatchingDims) {
  const auto got = run_one(
      module_of(
          "  a = s32[2,3] parameter(0)\n  i = s32[2,1] parameter(1)\n  u = s32[2] parameter(2)\n"
          "  ROOT s = s32[2,3] scatter(a, i, u), update_window_dims={}, inserted_window_dims={1}, "
          "scatter_dims_to_operand_dims={1}, input_batching_dims={0}, "
          "scatter_indices_batching_dims={0}, index_vector_dim=1, to_apply=max\n",
          "max { a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT r = s32[] maximum(a, "
          "b)\n}\n"),
      {whole({2, 3}, {1, 2, 3, 4, 5, 6}), whole({2, 1}, {2, 0}), whole({2}, {9, 3})});
  EXPECT_EQ(got, (Numbers{1, 2, 9, 4, 5, 6}));
}

// -0 is less than 0, whichever came first.
TEST(Scatter, ZerosOfBothSignsAreInOrder) {
  for (const std::string op : {"maximum", "minimum"}) {
    const auto got = run_one(
        module_of(
            "  a = f32[4] parameter(0)\n  i = s32[8,1] parameter(1)\n  u = f32[8] parameter(2)\n"
            "  s = f32[4] scatter(a, i, u), update_window_dims={}, inserted_window_dims={0}, "
            "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=of_both\n"
            "  o = f32[] constant(1)\n  p = f32[4] broadcast(o), dimensions={}\n"
            "  ROOT d = f32[4] divide(p, s)\n",
            "of_both { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] " + op +
                "(a, b)\n}\n"),
        {f32({4}, {0, -0.0f, 0, -0.0f}), whole({8, 1}, {0, 0, 1, 1, 2, 2, 3, 3}),
         f32({8}, {0, -0.0f, 0, -0.0f, -0.0f, 0, -0.0f, -0.0f})});
    const double more = INFINITY;
    EXPECT_EQ(got, (op == "maximum" ? Numbers{more, more, more, -more}
                                    : Numbers{-more, -more, -more, -more}));
  }
}

}  // namespace
}  // namespace hilo::test

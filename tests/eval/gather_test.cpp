// Expected values: NumPy indexing, and by hand where indices fall outside.
#include "wave.h"

namespace hilo::test {
namespace {

TEST(Gather, RowsWithClampedIndices) {
  const auto got = run_one(
      module_of("  a = f32[4,3] parameter(0)\n  i = s32[5] parameter(1)\n"
                "  ROOT g = f32[5,3] gather(a, i), offset_dims={1}, collapsed_slice_dims={0}, "
                "start_index_map={0}, index_vector_dim=1, slice_sizes={1,3}\n"),
      {wave({4, 3}), whole({5}, {2, -1, 0, 9, 3})});
  EXPECT_EQ(got, (Numbers{2, 0, -2, -2.5, 1, -1, -2.5, 1, -1, 1.5, -0.5, -2.5, 1.5, -0.5, -2.5}));
}

TEST(Gather, WindowsAreMovedInside) {
  const auto got = run_one(
      module_of("  a = f32[4,5] parameter(0)\n  i = s64[2,2] parameter(1)\n"
                "  ROOT g = f32[2,2,2] gather(a, i), offset_dims={0,2}, collapsed_slice_dims={}, "
                "start_index_map={1,0}, index_vector_dim=1, slice_sizes={2,2}\n"),
      {wave({4, 5}), whole<int64_t>({2, 2}, {1, 2, 9, 9})});
  EXPECT_EQ(got, (Numbers{-2.5, 1, -1, 2.5, -1.5, 2, 0, -2}));
}

TEST(Gather, BatchingDimsMoveTogether) {
  const auto got = run_one(
      module_of("  a = f32[3,4] parameter(0)\n  i = u32[2,3,1] parameter(1)\n"
                "  ROOT g = f32[2,3] gather(a, i), offset_dims={}, collapsed_slice_dims={1}, "
                "start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={1}, "
                "index_vector_dim=2, slice_sizes={1,1}\n"),
      {wave({3, 4}), whole<uint32_t>({2, 3, 1}, {0, 1, 2, 3, 2, 1})});
  EXPECT_EQ(got, (Numbers{-2.5, -1.5, -0.5, 2.5, 2, 1.5}));
}

TEST(Gather, IndexVectorsAlongTheFirstDimension) {
  const auto got = run_one(
      module_of("  a = s8[3,4] parameter(0)\n  i = s32[2,3] parameter(1)\n"
                "  ROOT g = s8[3] gather(a, i), offset_dims={}, collapsed_slice_dims={0,1}, "
                "start_index_map={0,1}, index_vector_dim=0, slice_sizes={1,1}\n"),
      {whole<int8_t>({3, 4}, {0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23}),
       whole({2, 3}, {0, 1, 2, 3, 2, 1})});
  EXPECT_EQ(got, (Numbers{3, 12, 21}));
}

TEST(Gather, UnsignedStartsPastTheSignedRangeAreLarge) {
  const auto got =
      run_one(module_of("  a = s8[4] parameter(0)\n  i = u64[3] parameter(1)\n"
                        "  ROOT g = s8[3] gather(a, i), offset_dims={}, collapsed_slice_dims={0}, "
                        "start_index_map={0}, index_vector_dim=1, slice_sizes={1}\n"),
              {whole<int8_t>({4}, {5, 6, 7, 8}), whole<uint64_t>({3}, {INT64_MIN, 1, -1})});
  EXPECT_EQ(got, (Numbers{8, 6, 8}));
}

TEST(Gather, OfNothingIsZero) {
  const auto got =
      run_one(module_of("  a = s32[0] parameter(0)\n  i = s32[2] parameter(1)\n"
                        "  ROOT g = s32[2] gather(a, i), offset_dims={}, collapsed_slice_dims={0}, "
                        "start_index_map={0}, index_vector_dim=1, slice_sizes={0}\n"),
              {whole({0}, {}), whole({2}, {1, 0})});
  EXPECT_EQ(got, (Numbers{0, 0}));
}

}  // namespace
}  // namespace hilo::test

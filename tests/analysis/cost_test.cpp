// Costs worked out by hand, for each family of ops.
#include "cost.h"

namespace hilo {
namespace {

using test::count;
using test::Counted;

struct Expected {
  double flops = 0, transcendentals = 0, read = 0, written = 0;
};
void expect(const Cost& cost, const Expected& want, std::string_view what) {
  EXPECT_EQ(cost.flops, want.flops) << what;
  EXPECT_EQ(cost.transcendentals, want.transcendentals) << what;
  EXPECT_EQ(cost.bytes_read, want.read) << what;
  EXPECT_EQ(cost.bytes_written, want.written) << what;
}

constexpr const char* add_and_greater =
    "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b) }\n"
    "ge { a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
    " ROOT r = pred[] compare(a, b), direction=GE }\n";
// The instruction `r` of an entry that also has p = f32[4,8], i = s32[], z = f32[].
void expect_op(const std::string& op, const Expected& want) {
  const Counted counted =
      count(std::string("HloModule m\n") + add_and_greater +
            "ENTRY e {\n p = f32[4,8]{1,0} parameter(0)\n i = s32[] parameter(1)\n"
            " z = f32[] parameter(2)\n " +
            op + "\n}\n");
  expect(counted.of("result"), want, op);
}

TEST(Cost, Elementwise) {
  expect_op("ROOT result = f32[4,8]{1,0} add(p, p)", {32, 0, 256, 128});
  expect_op("ROOT result = f32[4,8]{1,0} tanh(p)", {0, 32, 128, 128});
  expect_op("ROOT result = bf16[4,8]{1,0} convert(p)", {32, 0, 128, 64});
  expect_op("ROOT result = f32[4,8]{1,0} clamp(z, p, z)", {32, 0, 136, 128});
  expect_op("ROOT result = pred[4,8]{1,0} compare(p, p), direction=LT", {32, 0, 256, 32});
}

TEST(Cost, TilesArePadded) {  // f32[4,8] takes one tile of 8 x 128
  expect_op("q = f32[4,8]{1,0:T(8,128)} copy(p)\n ROOT result = f32[4,8]{1,0:T(8,128)} negate(q)",
            {32, 0, 4096, 4096});
}

TEST(Cost, WhatMovesNothing) {
  expect_op("ROOT result = f32[32]{0} bitcast(p)", {});
  expect_op("ROOT result = f32[8,4]{0,1} transpose(p), dimensions={1,0}", {});
  expect_op("ROOT result = f32[4,8]{1,0} opt-barrier(p)", {});
  expect_op("c = f32[4,8]{1,0} copy(p)\n ROOT result = (f32[4,8]{1,0}, s32[]) tuple(c, i)",
            {0, 0, 0, 16});
}

TEST(Cost, Movement) {
  expect_op("ROOT result = f32[8,4]{1,0} transpose(p), dimensions={1,0}", {0, 0, 128, 128});
  expect_op("ROOT result = f32[4,8,3]{2,1,0} broadcast(p), dimensions={0,1}", {0, 0, 128, 384});
  expect_op("ROOT result = f32[8,8]{1,0} concatenate(p, p), dimensions={0}", {0, 0, 256, 256});
  expect_op("ROOT result = f32[6,8]{1,0} pad(p, z), padding=1_1x0_0", {0, 0, 132, 192});
  expect_op("ROOT result = s32[8]{0} iota(), iota_dimension=0", {0, 0, 0, 32});
}

TEST(Cost, PartsOfArrays) {
  expect_op("ROOT result = f32[2,8]{1,0} slice(p), slice={[0:2], [0:8]}", {0, 0, 64, 64});
  expect_op("ROOT result = f32[2,8]{1,0} dynamic-slice(p, i, i), dynamic_slice_sizes={2,8}",
            {0, 0, 64 + 8, 64});
  expect_op(
      "u = f32[2,8]{1,0} parameter(3)\n"
      "ROOT result = f32[4,8]{1,0} dynamic-update-slice(p, u, i, i)",
      {0, 0, 64 + 8, 64});
  expect_op(
      "at = s32[3,1]{1,0} parameter(3)\n ROOT result = f32[3,8]{1,0} gather(p, at), "
      "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, "
      "slice_sizes={1,8}",
      {0, 0, 96 + 12, 96});
  expect_op(
      "at = s32[3,1]{1,0} parameter(3)\n u = f32[3,8]{1,0} parameter(4)\n"
      "ROOT result = f32[4,8]{1,0} scatter(p, at, u), update_window_dims={1}, "
      "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, "
      "to_apply=add",
      {24, 0, 96 + 12 + 96, 96});
}

TEST(Cost, Reductions) {
  expect_op("ROOT result = f32[4]{0} reduce(p, z), dimensions={1}, to_apply=add", {28, 0, 132, 16});
  expect_op("ROOT result = f32[2,8]{1,0} reduce-window(p, z), window={size=3x1}, to_apply=add",
            {16 * 2, 0, 132, 64});
  expect_op(
      "s = f32[2,8]{1,0} parameter(3)\n ROOT result = f32[4,8]{1,0} select-and-scatter(p, "
      "s, z), window={size=2x1 stride=2x1}, select=ge, scatter=add",
      {16 + 16, 0, 128 + 64 + 4, 128});
  expect_op("ROOT result = f32[4,8]{1,0} map(p, p), dimensions={0,1}, to_apply=add",
            {32, 0, 256, 128});
  expect_op("ROOT result = f32[4,8]{1,0} sort(p), dimensions={1}, to_apply=ge",
            {32 * 5, 0, 128, 128});
}

TEST(Cost, Dot) {
  expect_op(
      "q = f32[8,16]{1,0} parameter(3)\n ROOT result = f32[4,16]{1,0} dot(p, q), "
      "lhs_contracting_dims={1}, rhs_contracting_dims={0}",
      {2 * 64 * 8, 0, 128 + 512, 256});
  expect_op(
      "a = f32[16,8]{1,0} parameter(3)\n b = f32[3,8,5]{2,1,0} parameter(4)\n"
      "g = s32[3]{0} parameter(5)\n ROOT result = f32[16,5]{1,0} ragged-dot(a, b, g), "
      "lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, "
      "rhs_group_dims={0}",
      {2 * 80 * 8, 0, 512 + 480 + 12, 320});
}

// The products that a convolution makes, found by trying all pairs of one dimension.
double pairs(int64_t inputs, int64_t outputs, const WindowDim& dim) {
  double sum = 0;
  for (int64_t o = 0; o < outputs; ++o)
    for (int64_t k = 0; k < dim.size; ++k) {
      const int64_t at = o * dim.stride + k * dim.window_dilation - dim.padding_low;
      if (at >= 0 && at % dim.base_dilation == 0 && at / dim.base_dilation < inputs) ++sum;
    }
  return sum;
}

TEST(Cost, ConvolutionCountsValidPositions) {
  for (int64_t stride : {1, 2, 3})
    for (int64_t base : {1, 2, 4})
      for (int64_t dilation : {1, 2})
        for (int64_t pad : {-1, 0, 2, 5}) {
          const WindowDim dim{.size = 3,
                              .stride = stride,
                              .padding_low = pad,
                              .padding_high = 1,
                              .window_dilation = dilation,
                              .base_dilation = base};
          const int64_t wide = 6 * base + pad + 1 + 1, taken = 2 * dilation + 1;
          if (wide < taken) continue;
          const int64_t out = (wide - taken) / stride + 1;
          const Counted counted = count(
              fmt::format("HloModule m\nENTRY e {{\n x = f32[2,7,6]{{2,1,0}} parameter(0)\n"
                          " k = f32[3,3,4]{{2,1,0}} parameter(1)\n ROOT c = f32[2,{},4]{{2,1,0}} "
                          "convolution(x, k), window={{size=3 stride={} pad={}_1 lhs_dilate={} "
                          "rhs_dilate={}}}, dim_labels=b0f_0io->b0f, feature_group_count=2\n}}\n",
                          out, stride, pad, base, dilation));
          EXPECT_EQ(counted.of("c").flops, 2 * 3 * 4 * 2 * pairs(7, out, dim))
              << stride << base << dilation << pad;
        }
}

TEST(Cost, Algebra) {
  expect_op(
      "c = c64[4,8]{1,0} parameter(3)\n"
      "ROOT result = c64[4,8]{1,0} fft(c), fft_type=FFT, fft_length={8}",
      {8 * 3 * 32, 0, 256, 256});
  expect_op(
      "c = c64[2,4,8]{2,1,0} parameter(3)\n"
      "ROOT result = c64[2,4,8]{2,1,0} fft(c), fft_type=FFT, fft_length={4,8}",
      {8 * (2 + 3) * 64, 0, 512, 512});
  expect_op(
      "a = f32[2,9,9]{2,1,0} parameter(3)\n"
      "ROOT result = f32[2,9,9]{2,1,0} cholesky(a), lower=true",
      {2 * 9 * 9 * 9 / 3, 0, 324, 324});
  expect_op(
      "a = f32[2,8,8]{2,1,0} parameter(3)\n b = f32[2,8,3]{2,1,0} parameter(4)\n"
      "ROOT result = f32[2,8,3]{2,1,0} triangular-solve(a, b), lower=true, left_side=true, "
      "transpose_a=NO_TRANSPOSE",
      {2 * 8 * 48, 0, 256 + 192, 192});
}

TEST(Cost, CollectivesAndTheirStarts) {
  expect_op("ROOT result = f32[4,8]{1,0} all-reduce(p), replica_groups={}, to_apply=add",
            {32, 0, 128, 128});
  const Counted counted = count(
      "HloModule m, replica_count=2\nENTRY e {\n p = f32[4,8]{1,0} parameter(0)\n"
      " s = (f32[4,8]{1,0}, f32[8,8]{1,0}) all-gather-start(p), replica_groups={{0,1}}, "
      "dimensions={0}\n d = f32[8,8]{1,0} all-gather-done(s)\n"
      " c = (f32[8,8]{1,0}, f32[8,8]{1,0}, u32[]) copy-start(d)\n"
      " ROOT r = f32[8,8]{1,0} copy-done(c)\n}\n");
  expect(counted.of("s"), {0, 0, 128, 256}, "all-gather-start");
  expect(counted.of("d"), {}, "all-gather-done");
  expect(counted.of("c"), {0, 0, 256, 256}, "copy-start");
  expect(counted.of("r"), {}, "copy-done");
}

}  // namespace
}  // namespace hilo

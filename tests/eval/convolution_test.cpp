// Expected values: direct sums in NumPy over the definition in XLA's operation semantics.
#include <fmt/ranges.h>

#include "wave.h"

namespace hilo::test {
namespace {

Numbers convolve(const Dims& x, const Dims& w, const std::string& out,
                 const std::string& attributes) {
  const auto shape = [](const Dims& dims) {
    return to_string_without_layout(Shape::array(ElementType::F32, dims));
  };
  return run_one(module_of(fmt::format("  x = {} parameter(0)\n  w = {} parameter(1)\n"
                                       "  ROOT c = {} convolution(x, w), {}\n",
                                       shape(x), shape(w), out, attributes)),
                 {wave(x), wave(w, 0.5)});
}

TEST(Convolution, StridesAndPadding) {
  EXPECT_EQ(convolve({1, 5, 4, 2}, {3, 2, 2, 3}, "f32[1,3,5,3]",
                     "window={size=3x2 stride=2x1 pad=1_1x1_1}, dim_labels=b01f_01io->b01f"),
            (Numbers{-1.25, 0,    -4.25, 2,     -10.25, -3.25, 4.5,  -7,    0.75,  -4, 4.5,   2,
                     1.25,  7.75, 8.75,  -6.25, -1,     -1.25, 2.25, 3,     3.75,  -9, -0.25, 0.25,
                     1.75,  7.5,  -3.25, -6.75, 2.25,   -8,    2.25, 5.25,  -8.25, 5,  4.5,   -7,
                     1.25,  -4,   4.5,   -2.5,  -1.5,   7.75,  8.25, -2.75, 0}));
}

TEST(Convolution, BothDilationsReversalAndNegativePadding) {
  EXPECT_EQ(
      convolve({2, 6, 1}, {2, 1, 2}, "f32[2,8,2]",
               "window={size=2 pad=-1_1 lhs_dilate=2 rhs_dilate=3 rhs_reversal=1}, "
               "dim_labels=b0f_0io->b0f"),
      (Numbers{2, -1.5, -0.5, 3, -5, 3.75, 0.5, -3, -1, 0.75,  -1.25, 7.5, 3, -2.25, -0.25, 1.5,
               4, -3,   0,    0, -3, 2.25, 1,   -6, 1,  -0.75, -0.75, 4.5, 5, -3.75, 0.25,  -1.5}));
}

// A dilated input is one with zeros between its elements.
TEST(Convolution, DilatedInputsAreThoseWithHoles) {
  struct Case {
    std::string padding;
    int64_t rows_apart, columns_apart;
    std::string result;
  };
  for (const Case& c : {Case{"1_2x2_0", 2, 3, "2,7,13"},
                        {"0_0x5_4", 3, 1, "2,7,12"},
                        {"-2_-1x-1_1", 2, 2, "2,1,7"},
                        {"3_3x2_2", 5, 4, "2,19,19"}})
    for (const std::string reversal : {"", " rhs_reversal=1x0"})
      for (int groups : {1, 3}) {
        const auto run = [&](const std::string& input, const std::string& dilation) {
          return run_one(
              module_of(fmt::format(
                  "  x = f32[2,4,5,6] parameter(0)\n  w = f32[4,3,{},9] parameter(1)\n"
                  "  zero = f32[] constant(0)\n  y = {}\n"
                  "  ROOT c = f32[{},9] convolution(y, w), window={{size=4x3 pad={}{}{}}}, "
                  "dim_labels=b01f_01io->b01f, feature_group_count={}\n",
                  6 / groups, input, c.result, c.padding, dilation, reversal, groups)),
              {wave({2, 4, 5, 6}), wave({4, 3, 6 / groups, 9}, 0.5)});
        };
        const std::string with_holes = fmt::format(
            "f32[2,{},{},6] pad(x, zero), padding=0_0x0_0_{}x0_0_{}x0_0", 3 * c.rows_apart + 1,
            4 * c.columns_apart + 1, c.rows_apart - 1, c.columns_apart - 1);
        EXPECT_EQ(run("f32[2,4,5,6] copy(x)",
                      fmt::format(" lhs_dilate={}x{}", c.rows_apart, c.columns_apart)),
                  run(with_holes, ""))
            << c.padding;
      }
}

TEST(Convolution, FeatureGroups) {
  EXPECT_EQ(convolve({1, 4, 4}, {2, 2, 6}, "f32[1,3,6]",
                     "window={size=2}, dim_labels=b0f_0io->b0f, feature_group_count=2"),
            (Numbers{7.5, -1.25, -1.75, 4, -3, 1, -7, -1.25, -1, 5.5, 7.5, -7, 8.75, -1.25, -0.25,
                     -4, -4, 12.5}));
}

TEST(Convolution, DepthwiseWithGroupsInnermost) {
  EXPECT_EQ(convolve({1, 3, 9}, {2, 1, 9}, "f32[1,4,9]",
                     "window={size=2 pad=1_1}, dim_labels=b0f_0io->b0f, feature_group_count=9"),
            (Numbers{-5,    0, 2,   3.75,  -0.25, -4.5, 2,     0,     -5,   8,    1.5, 5.5,  9,
                     1,     9, 5.5, 1.5,   8,     -3,   -0.75, -1.75, 2.25, 0.25, 0.5, 0.25, -3.25,
                     -1.75, 0, -3,  -0.75, -1.5,  -2.5, -1,    -2.5,  1.25, -0.75}));
}

TEST(Convolution, BatchGroups) {
  EXPECT_EQ(convolve({4, 4, 2}, {2, 2, 4}, "f32[2,3,4]",
                     "window={size=2}, dim_labels=b0f_0io->b0f, batch_group_count=2"),
            (Numbers{11.25, -8,    -0.25, -5.5,  1.5,  -2.25, -6.5, -4.5,  -5.5, 6.25, 1,   10.25,
                     2.5,   -4.25, 2.25,  -4.25, -4.5, 4.25,  -4,   -3.25, -6,   7.25, 3.5, 11.5}));
}

TEST(Convolution, BatchGroupsInnermost) {
  EXPECT_EQ(convolve({2, 5, 8}, {2, 4, 8}, "f32[3,1,8]",
                     "window={size=4 pad=1_0}, dim_labels=f0b_i0o->0bf, batch_group_count=8"),
            (Numbers{8.5,  16.75, 15.25, 1.25, 16,   10, 5.25,  18.25, 13.5, 24.5, 6, 18.5,
                     9.75, 15.5,  22,    10,   12.5, 10, -2.75, 1.75,  12.5, 4.75, 6, -0.25}));
}

TEST(Convolution, AnyLabelsAndFeaturesFirst) {
  EXPECT_EQ(
      convolve({3, 4, 5, 2}, {2, 4, 2, 3}, "f32[4,3,4,2]",
               "window={size=2x2}, dim_labels=f01b_0o1i->f01b"),
      (Numbers{3.25,   7.5,   -4.75,  -11.5,  1,      -3,     -1.5,  5.5,    4.5,   3.25,   7.5,
               -4.75,  -11.5, 1,      -3,     -1.5,   -10.75, 4.5,   3.25,   7.5,   -4.75,  -11.5,
               1,      -3,    -9.5,   10.5,   -10.75, 3.75,   1.75,  -11.25, 11.5,  4,      0.75,
               -9.5,   10.5,  -10.75, 3.75,   1.75,   -11.25, 11.5,  0,      0.75,  -9.5,   10.5,
               -10.75, 3.75,  1.75,   -11.25, -0.25,  2.5,    -0.25, 2.5,    13.5,  -11.25, -0.25,
               5.25,   -8.5,  -0.25,  2.5,    -0.25,  2.5,    13.5,  -11.25, -0.25, 8,      -8.5,
               -0.25,  2.5,   -0.25,  2.5,    13.5,   -11.25, 3.5,   -8.25,  10.25, 4,      0.5,
               -3,     -1,    -10,    4.25,   3.5,    -8.25,  10.25, 4,      0.5,   -3,     -1,
               5,      4.25,  3.5,    -8.25,  10.25,  4,      0.5,   -3}));
}

TEST(Convolution, NoSpatialDimension) {
  EXPECT_EQ(convolve({3, 4}, {4, 2}, "f32[3,2]", "dim_labels=bf_io->bf"),
            (Numbers{9.75, 1.5, 1.75, -5.75, -3.5, 0.75}));
}

TEST(Convolution, ThreeSpatialDimensionsInMixedTypes) {
  const auto got =
      run_one(module_of("  x = f32[1,3,3,2,1] parameter(0)\n  w = bf16[2,2,2,1,1] parameter(1)\n"
                        "  ROOT c = f32[1,2,2,1,1] convolution(x, w), window={size=2x2x2}, "
                        "dim_labels=b012f_012io->b012f\n"),
              {wave({1, 3, 3, 2, 1}), wave<BF16>({2, 2, 2, 1, 1})});
  EXPECT_EQ(got, (Numbers{11.5, -3.5, 7.75, -1.75}));
}

TEST(Convolution, ADotInConvolutionLabels) {
  EXPECT_EQ(
      convolve({2, 3, 4}, {5, 4, 1}, "f32[2,3,5]", "window={size=1}, dim_labels=0bf_oi0->0bf"),
      (Numbers{14.5, -4.75, 0.75,  -4.75, 0.75, -4.25, 7,     -3.75, 7.5, -3.25,
               -1,   -6,    11,    -7.75, 9.25, -3.25, 8.5,   -4.5,  10,  -3,
               0,    -4.5,  10.25, -5.25, 9.5,  0.5,   -3.75, -5.25, -4,  -5.5}));
}

TEST(Convolution, BytesAreExact) {
  const auto got = run_one(
      module_of(
          "  x = s8[1,4,1] parameter(0)\n  w = s8[2,1,1] parameter(1)\n"
          "  ROOT c = s32[1,3,1] convolution(x, w), window={size=2}, dim_labels=b0f_0io->b0f\n"),
      {whole<int8_t>({1, 4, 1}, {127, -128, 100, 3}), whole<int8_t>({2, 1, 1}, {127, -128})});
  EXPECT_EQ(got, (Numbers{127 * 127 + 128 * 128, -128 * 127 - 12800, 12700 - 384}));
}

// Runs of features, pieces of them and places side by side, against the same of words.
TEST(Convolution, BytesInEveryOrderAreThoseOfWords) {
  for (const int64_t features : {3, 8, 21, 70})
    for (const bool is_last : {true, false})
      for (const std::string type : {"s8", "u8"}) {
        const Dims x = is_last ? Dims{2, 18, 17, features} : Dims{2, features, 18, 17},
                   w = is_last ? Dims{3, 3, features, 19} : Dims{19, features, 3, 3};
        const auto literal = [&](const Dims& dims) {
          std::vector<int64_t> values(static_cast<size_t>(element_count(dims)));
          for (size_t i = 0; i < values.size(); ++i)
            values[i] = static_cast<int64_t>(i * i * 37 % 251) - (type == "s8" ? 125 : 0);
          return type == "s8" ? whole<int8_t>(dims, values) : whole<uint8_t>(dims, values);
        };
        const auto sizes = [](const Dims& dims) {
          return fmt::format("[{}]", fmt::join(dims, ","));
        };
        const std::string result = is_last ? "s32[2,18,17,19]" : "s32[2,19,18,17]",
                          how = fmt::format("window={{size=3x3 pad=1_1x1_1}}, dim_labels={}",
                                            is_last ? "b01f_01io->b01f" : "bf01_oi01->bf01");
        const Numbers differences =
            run_one(module_of(fmt::format("  x = {0}{1} parameter(0)\n  w = {0}{2} parameter(1)\n"
                                          "  xs = s32{1} convert(x)\n  ws = s32{2} convert(w)\n"
                                          "  c = {3} convolution(x, w), {4}\n"
                                          "  d = {3} convolution(xs, ws), {4}\n"
                                          "  ROOT r = {3} subtract(c, d)\n",
                                          type, sizes(x), sizes(w), result, how)),
                    {literal(x), literal(w)});
        EXPECT_EQ(differences, Numbers(differences.size(), 0)) << features << type << is_last;
      }
}

// Against sums written out; every one is exact. Features innermost and outermost, and rows of
// places that end within a vector.
TEST(Convolution, ManyFeaturesInEveryOrder) {
  constexpr int64_t size = 13, features = 21, outputs = 37, window = 3, stride = 2, places = 7;
  const Dims x_nhwc = {2, size, size, features}, x_nchw = {2, features, size, size};
  const Dims w_hwio = {window, window, features, outputs},
             w_oihw = {outputs, features, window, window};
  const auto at = [](const Literal& literal, const Dims& index) {
    int64_t position = 0;
    for (size_t d = 0; d < index.size(); ++d) position = position * literal.size(d) + index[d];
    return literal.number_at(position);
  };
  for (const bool is_last : {true, false}) {
    const Literal x = wave(is_last ? x_nhwc : x_nchw), w = wave(is_last ? w_hwio : w_oihw, 0.5);
    const Numbers got =
        convolve(x.shape().dims, w.shape().dims, is_last ? "f32[2,7,7,37]" : "f32[2,37,7,7]",
                 fmt::format("window={{size=3x3 stride=2x2 pad=1_1x1_1}}, dim_labels={}",
                             is_last ? "b01f_01io->b01f" : "bf01_oi01->bf01"));
    for (int64_t e = 0; e < 2 * places * places * outputs; ++e) {
      const int64_t o = is_last ? e % outputs : e / places / places % outputs;
      const int64_t place = is_last ? e / outputs % (places * places) : e % (places * places);
      const int64_t b = e / outputs / places / places;
      double sum = 0;
      for (int64_t i = 0; i < window * window * features; ++i) {
        const int64_t c = i % features, kx = i / features % window, ky = i / features / window;
        const int64_t iy = place / places * stride + ky - 1, ix = place % places * stride + kx - 1;
        if (iy < 0 || ix < 0 || iy >= size || ix >= size) continue;
        sum += at(x, is_last ? Dims{b, iy, ix, c} : Dims{b, c, iy, ix}) *
               at(w, is_last ? Dims{ky, kx, c, o} : Dims{o, c, ky, kx});
      }
      ASSERT_EQ(got[static_cast<size_t>(e)], sum) << is_last << ' ' << e;
    }
  }
}

// Windows that are whole images, against sums written out: rows of the product are the features of
// several places, in pieces of a vector, in whole vectors, or apart.
TEST(Convolution, GradientsOfKernels) {
  constexpr int64_t batch = 5, size = 15, outputs = 9, window = 3;
  for (const int64_t features : {1, 3, 5, 16, 24, 32})
    for (const bool is_last : {true, false}) {
      const Dims x_dims = is_last ? Dims{batch, size, size, features}
                                  : Dims{batch, features, size, size},
                 y_dims =
                     is_last ? Dims{batch, size, size, outputs} : Dims{batch, outputs, size, size};
      const Literal x = wave(x_dims), y = wave(y_dims, 0.5);
      const auto values = [](const Literal& literal) { return literal.data<float>(); };
      const auto at = [&](const Literal& literal, int64_t n, int64_t i, int64_t j, int64_t f,
                          int64_t count) -> double {
        if (i < 0 || j < 0 || i >= size || j >= size) return 0;
        return values(
            literal)[static_cast<size_t>(is_last ? ((n * size + i) * size + j) * count + f
                                                 : ((n * count + f) * size + i) * size + j)];
      };
      const Numbers got = convolve(
          x_dims, y_dims,
          is_last ? fmt::format("f32[3,3,{},9]", features) : fmt::format("f32[9,{},3,3]", features),
          fmt::format("window={{size=15x15 pad=1_1x1_1}}, dim_labels={}",
                      is_last ? "f01b_i01o->01bf" : "fb01_io01->fb01"));
      for (int64_t e = 0; e < window * window * features * outputs; ++e) {
        const int64_t o = is_last ? e % outputs : e / (window * window * features),
                      c = is_last ? e / outputs % features : e / (window * window) % features,
                      place = is_last ? e / outputs / features : e % (window * window);
        double sum = 0;
        for (int64_t t = 0; t < batch * size * size; ++t) {
          const int64_t n = t / (size * size), i = t / size % size, j = t % size;
          sum += at(x, n, i + place / window - 1, j + place % window - 1, c, features) *
                 at(y, n, i, j, o, outputs);
        }
        ASSERT_EQ(got[static_cast<size_t>(e)], sum) << features << ' ' << is_last << ' ' << e;
      }
    }
}

}  // namespace
}  // namespace hilo::test

// fft, cholesky, triangular-solve, batch norms, scan. Expected values: NumPy and SciPy in f64.
#include <cmath>

#include "wave.h"

namespace hilo::test {
namespace {

constexpr const char* parts =
    "  r = f32[{0}] real(y)\n  i = f32[{0}] imag(y)\n"
    "  ROOT t = (f32[{0}], f32[{0}]) tuple(r, i)\n";

Numbers transform(const std::string& given, const std::string& type, const std::string& length,
                  const std::string& out, const Dims& dims) {
  return run_one(
      module_of(
          fmt::format("  x = f32[{0}] parameter(0)\n  w = f32[{0}] reverse(x), dimensions={{0}}\n"
                      "  c = c64[{0}] complex(x, w)\n  y = c64[{3}] fft(c), fft_type={1}, "
                      "fft_length={{{2}}}\n",
                      given, type, length, out) +
          fmt::format(fmt::runtime(parts), out)),
      {wave(dims)});
}

TEST(Fft, PowerOfTwoPrimeAndBatches) {
  expect_near(transform("8", "FFT", "8", "8", {8}),
              {1, -1.257359312881, 0, 3.742640687119, -3, -9.742640687119, -6, -4.742640687119, 1,
               -3.035533905933, 6, -9.035533905933, 3, 4.035533905933, 0, -1.964466094067},
              1e-6);
  expect_near(transform("7", "FFT", "7", "7", {7}),
              {1, -0.963174249952, -0.589211633434, -3.192146737235, -11.666241083211,
               2.499869180361, -4.589095476529, 1, -2.752593862081, 5.229397883436, 5.080272429451,
               7.330385117475, -0.281667609917, -1.605793958365},
              1e-6);
  expect_near(transform("2,6", "IFFT", "6", "2,6", {2, 6}),
              {-0.166666666667, -0.977670900631, -0.494016935856, -0.833333333333, 0.660683602523,
               -0.688995766036, -0.25,           -0.061004233964, 0.42264973081,   0.083333333333,
               1.57735026919,   0.227670900631,  -0.25,           0.227670900631,  1.57735026919,
               0.083333333333,  0.42264973081,   -0.061004233964, -0.166666666667, -0.688995766036,
               0.660683602523,  -0.833333333333, -0.494016935856, -0.977670900631},
              1e-6);
  expect_near(transform("2,3,5", "FFT", "3,5", "2,3,5", {2, 3, 5}),
              {0,
               -4.062748017957,
               -3.062633009148,
               -14.336553928977,
               -1.038065043918,
               -3.580127018922,
               -4.896992916427,
               -8.555717387595,
               7.505310856658,
               -2.302600552635,
               5.080127018922,
               4.163037222582,
               -2.956310822589,
               1.905904291651,
               -11.362630691645,
               1,
               -1.209926908097,
               5.622924201745,
               11.27626273638,
               5.810739969972,
               -1.566987298108,
               -3.595115816545,
               4.693352771769,
               -9.001087795087,
               -2.360288880951,
               -2.433012701892,
               -6.538898057173,
               12.400274733211,
               -1.294165833644,
               -5.304071121579,
               1,
               5.810739969972,
               11.27626273638,
               5.622924201745,
               -1.209926908097,
               -2.433012701892,
               -5.304071121579,
               -1.294165833644,
               12.400274733211,
               -6.538898057173,
               -1.566987298108,
               -2.360288880951,
               -9.001087795087,
               4.693352771769,
               -3.595115816545,
               0,
               -1.038065043918,
               -14.336553928977,
               -3.062633009148,
               -4.062748017957,
               5.080127018922,
               -11.362630691645,
               1.905904291651,
               -2.956310822589,
               4.163037222582,
               -3.580127018922,
               -2.302600552635,
               7.505310856658,
               -8.555717387595,
               -4.896992916427},
              1e-6);
}

TEST(Fft, RealToHalfASpectrumAndBack) {
  const auto half = run_one(
      module_of(
          "  x = f32[2,5] parameter(0)\n  y = c64[2,3] fft(x), fft_type=RFFT, fft_length={5}\n" +
          fmt::format(fmt::runtime(parts), "2,3")),
      {wave({2, 5})});
  expect_near(half,
              {0.5, -3.25, -3.25, 0, 1.199593469062, -4.949593469062, 0, 1.581720124876,
               -3.622590433179, 0, -1.651098762733, 1.608220406444},
              1e-6);
  const auto back = run_one(
      module_of(
          "  x = f32[4,6] parameter(0)\n  y = c64[4,4] fft(x), fft_type=RFFT, fft_length={4,6}\n"
          "  ROOT z = f32[4,6] fft(y), fft_type=IRFFT, fft_length={4,6}\n"),
      {wave({4, 6})});
  expect_near(back, {-2.5, 1,  -1,  2.5, 0.5,  -1.5, 2, 0,  -2,  1.5,  -0.5, -2.5,
                     1,    -1, 2.5, 0.5, -1.5, 2,    0, -2, 1.5, -0.5, -2.5, 1},
              1e-6);
}

TEST(Cholesky, LowerAndUpperReadTheirTriangle) {
  // The other triangle holds 99, which must not matter.
  const auto lower = run_one(module_of("  x = f32[3,3] parameter(0)\n"
                                       "  ROOT c = f32[3,3] cholesky(x), lower=true\n"),
                             {f32({3, 3}, {4, 99, 99, 2, 5, 99, -2, 1, 6})});
  expect_near(lower, {2, 0, 0, 1, 2, 0, -1, 1, 2}, 1e-6);
  const auto upper = run_one(module_of("  x = f32[3,3] parameter(0)\n"
                                       "  ROOT c = f32[3,3] cholesky(x)\n"),
                             {f32({3, 3}, {4, 2, -2, 99, 5, 1, 99, 99, 6})});
  expect_near(upper, {2, 1, -1, 0, 2, 1, 0, 0, 2}, 1e-6);
}

TEST(Cholesky, NotPositiveDefiniteIsNan) {
  const auto got = run_one(module_of("  x = f32[2,2] parameter(0)\n"
                                     "  ROOT c = f32[2,2] cholesky(x), lower=true\n"),
                           {f32({2, 2}, {1, 2, 2, 1})});
  ASSERT_EQ(got.size(), 4u);
  EXPECT_TRUE(std::isnan(got[0]) && std::isnan(got[2]) && std::isnan(got[3]));
}

Numbers solve(const std::string& attributes, const Dims& b) {
  const std::string shape = to_string_without_layout(Shape::array(ElementType::F32, b));
  return run_one(module_of(fmt::format("  a = f32[3,3] parameter(0)\n  b = {0} parameter(1)\n"
                                       "  ROOT x = {0} triangular-solve(a, b), {1}\n",
                                       shape, attributes)),
                 {f32({3, 3}, {2, 1, -1, 3, 4, 1, -2, 5, 8}), wave(b)});
}

TEST(TriangularSolve, EachSideTriangleAndTranspose) {
  expect_near(solve("left_side=true, lower=true, transpose_a=NO_TRANSPOSE", {3, 2}),
              {-1.25, 0.5, 0.6875, 0.25, -0.6796875, -0.21875}, 1e-5);
  expect_near(solve("left_side=true, transpose_a=TRANSPOSE", {3, 2}),
              {-1.25, 0.5, 0.0625, 0.5, -0.1015625, -0.1875}, 1e-5);
  expect_near(solve("lower=true, transpose_a=NO_TRANSPOSE", {2, 3}),
              {-1.984375, 0.40625, -0.125, 0.5234375, 0.359375, -0.1875}, 1e-5);
  expect_near(solve("transpose_a=ADJOINT", {2, 3}),
              {-1.453125, 0.28125, -0.125, 1.0703125, 0.171875, -0.1875}, 1e-5);
  expect_near(
      solve("left_side=true, lower=true, unit_diagonal=true, transpose_a=NO_TRANSPOSE", {3, 2}),
      {-2.5, 1, 6.5, -0.5, -37, 3}, 1e-5);
}

TEST(BatchNorm, Training) {
  const auto got = run_one(
      module_of(
          "  x = f32[2,3,2] parameter(0)\n  s = f32[3] parameter(1)\n  o = f32[3] parameter(2)\n"
          "  ROOT b = (f32[2,3,2], f32[3], f32[3]) batch-norm-training(x, s, o), epsilon=0.125, "
          "feature_index=1\n"),
      {wave({2, 3, 2}), f32({3}, {1.5, -0.5, 2}), f32({3}, {0.25, 1, -1})});
  expect_near(got,
              {-2.053508136, 1.017836045333, 1.337099931232, 0.393220123783, 1.558408596267,
               -1.852802865422, 1.895362954286, 0.140309136381, 1.606779876217, 0.662900068768,
               -0.147197134578, -3.558408596267, 0.125, 0.25, -1, 2.796875, 3.3125, 1.25},
              1e-6);
}

TEST(BatchNorm, Inference) {
  const auto got = run_one(
      module_of(
          "  x = f32[2,3,2] parameter(0)\n  s = f32[3] parameter(1)\n  o = f32[3] parameter(2)\n"
          "  ROOT b = f32[2,3,2] batch-norm-inference(x, s, o, o, s), epsilon=0.125, "
          "feature_index=1\n"),
      {wave({2, 3, 2}), f32({3}, {1.5, 0.5, 2}), f32({3}, {0.25, 1, -1})});
  expect_near(got,
              {-2.98591622978, 1.132522608122, -0.264911064067, 1.948683298051, 1.05798302171,
               -1.68599434057, 2.309219418951, -0.044174202707, -0.897366596101, 1.316227766017,
               -0.31400565943, -3.05798302171},
              1e-6);
}

// The gradient is judged by differences of the forward formula.
TEST(BatchNorm, Gradient) {
  const auto got = run_one(
      module_of(
          "  x = f32[2,3,2] parameter(0)\n  s = f32[3] parameter(1)\n  m = f32[3] parameter(2)\n"
          "  v = f32[3] parameter(3)\n  d = f32[2,3,2] reverse(x), dimensions={2}\n"
          "  ROOT b = (f32[2,3,2], f32[3], f32[3]) batch-norm-grad(x, s, m, v, d), epsilon=0.125, "
          "feature_index=1\n"),
      {wave({2, 3, 2}), f32({3}, {1.5, -0.5, 2}), f32({3}, {0.125, 0.25, -1}),
       f32({3}, {2.796875, 3.3125, 1.25})});
  expect_near(got,
              {-0.2299402, -1.9709161, -0.3309708, -0.1593563, 0.5426927, 2.0932434, 0.6030065,
               1.5978498, 0.1593563, 0.3309708, -2.0932434, -0.5426927, -2.961653317715,
               -6.067798762169, -2.558408596267, 0.5, 1, -4},
              1e-5);
}

TEST(Scan, RunningSumForwardAndBackward) {
  for (const bool is_reverse : {false, true}) {
    const auto got = run_one(
        module_of(
            fmt::format(
                "  x = f32[2,3] parameter(0)\n  i = f32[2] constant({{10, 20}})\n"
                "  ROOT s = (f32[2,3], f32[2]) scan(x, i), dimensions={{1}}, {}num_carries=1, "
                "to_apply=step\n",
                is_reverse ? "is_reverse=true, " : ""),
            "step { a = f32[2] parameter(0)\n c = f32[2] parameter(1)\n s = f32[2] add(a, c)\n"
            " ROOT t = (f32[2], f32[2]) tuple(c, s)\n}\n"),
        {f32({2, 3}, {1, 2, 3, 4, 5, 6})});
    EXPECT_EQ(got, is_reverse ? (Numbers{15, 13, 10, 31, 26, 20, 16, 35})
                              : (Numbers{10, 11, 13, 20, 24, 29, 16, 35}));
  }
}

}  // namespace
}  // namespace hilo::test

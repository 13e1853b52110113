// Values from NumPy (f32 functions: of the double value, rounded) and ml_dtypes; integer edge cases
// from XLA's operation semantics.
#include <cmath>

#include "devices.h"

namespace hilo {
namespace {

using test::Numbers;

Numbers evaluate_text(const std::string& body, const EvalOptions& options = {}) {
  const auto rows = test::run_well("HloModule m\nENTRY e {\n" + body + "\n}\n", {{}}, options);
  return rows.empty() ? Numbers{} : rows[0];
}

Numbers unary(const std::string& op, const std::string& type, const std::string& values, int n,
              const std::string& result = "") {
  const std::string dims = "[" + std::to_string(n) + "]";
  return evaluate_text("x = " + type + dims + " constant(" + values +
                       ")\nROOT r = " + (result.empty() ? type : result) + dims + " " + op + "(x)");
}

Numbers binary(const std::string& op, const std::string& type, const std::string& a,
               const std::string& b, int n) {
  const std::string dims = type + "[" + std::to_string(n) + "]";
  return evaluate_text("a = " + dims + " constant(" + a + ")\nb = " + dims + " constant(" + b +
                       ")\nROOT r = " + dims + " " + op + "(a, b)");
}

TEST(Elementwise, FunctionsOfF32AreWithinOneUnit) {
  const std::string x = "{-2.5, -0.5, 0, 0.5, 1.5, 3}";
  const std::pair<const char*, Numbers> cases[] = {
      {"exponential",
       {0x1.50385cp-4, 0x1.368b3p-1, 1, 0x1.a61298p+0, 0x1.1ed3fep+2, 0x1.415e5cp+4}},
      {"tanh", {-0x1.f92582p-1, -0x1.d9353ep-2, 0, 0x1.d9353ep-2, 0x1.cf6f98p-1, 0x1.fd77d2p-1}},
      {"exponential-minus-one",
       {-0x1.d5f8f4p-1, -0x1.92e9ap-2, 0, 0x1.4c2532p-1, 0x1.bda7fcp+1, 0x1.315e5cp+4}},
      {"cbrt", {-0x1.5b720ap+0, -0x1.965feap-1, 0, 0x1.965feap-1, 0x1.250bfep+0, 0x1.713744p+0}},
      {"sine", {-0x1.326afp-1, -0x1.eaee88p-2, 0, 0x1.eaee88p-2, 0x1.feb7aap-1, 0x1.210386p-3}},
      {"round-nearest-afz", {-3, -1, 0, 1, 2, 3}},
      {"round-nearest-even", {-2, -0.0, 0, 0, 2, 3}},
      {"sign", {-1, -1, 0, 1, 1, 1}}};
  for (const auto& [op, want] : cases) {
    const Numbers got = unary(op, "f32", x, 6);
    ASSERT_EQ(got.size(), want.size()) << op;
    for (size_t i = 0; i < want.size(); ++i)
      EXPECT_NEAR(got[i], want[i], 6e-8 * std::abs(want[i])) << op << " at " << i;
  }
}

TEST(Elementwise, IntegerDivisionByZeroAndOverflow) {
  EXPECT_EQ(binary("divide", "s32", "{7, -2147483648, -7, 5}", "{0, -1, 2, -3}", 4),
            (Numbers{-1, -2147483648.0, -3, -1}));
  EXPECT_EQ(binary("remainder", "s32", "{7, -2147483648, -7, 5}", "{0, -1, 2, -3}", 4),
            (Numbers{7, 0, -1, 2}));
  EXPECT_EQ(binary("divide", "u8", "{7, 200}", "{0, 3}", 2), (Numbers{255, 66}));
  EXPECT_EQ(binary("add", "s4", "{7, -8}", "{1, -1}", 2), (Numbers{-8, 7}));
  EXPECT_EQ(binary("multiply", "u4", "{15, 5}", "{15, 5}", 2), (Numbers{1, 9}));
  EXPECT_EQ(binary("power", "s32", "{-1, 2, 3, 2}", "{-3, -1, 4, 31}", 4),
            (Numbers{-1, 0, 81, -2147483648.0}));
}

TEST(Elementwise, ShiftsBeyondTheWidth) {
  EXPECT_EQ(binary("shift-left", "s8", "{1, 1, 3}", "{7, 8, -1}", 3), (Numbers{-128, 0, 0}));
  EXPECT_EQ(binary("shift-right-logical", "s8", "{-1, -1}", "{1, 8}", 2), (Numbers{127, 0}));
  EXPECT_EQ(binary("shift-right-arithmetic", "s8", "{-100, 100}", "{9, 9}", 2), (Numbers{-1, 0}));
  EXPECT_EQ(binary("shift-right-logical", "s4", "{-1, -8}", "{1, 4}", 2), (Numbers{7, 0}));
}

TEST(Elementwise, BitCountsKnowTheWidth) {
  EXPECT_EQ(unary("count-leading-zeros", "s4", "{1, 0, -1}", 3), (Numbers{3, 4, 0}));
  EXPECT_EQ(unary("count-leading-zeros", "u16", "{1, 0, 65535}", 3), (Numbers{15, 16, 0}));
  EXPECT_EQ(unary("popcnt", "s8", "{-1, 0, 5}", 3), (Numbers{8, 0, 2}));
  EXPECT_EQ(unary("not", "pred", "{true, false}", 2), (Numbers{0, 1}));
}

TEST(Elementwise, ConversionsSaturateAndNanIsZero) {
  EXPECT_EQ(unary("convert", "f32", "{1e20, -1e20, nan, -2.9, inf}", 5, "s32"),
            (Numbers{2147483647, -2147483648.0, 0, -2, 2147483647}));
  EXPECT_EQ(unary("convert", "f32", "{300, -5, 254.9}", 3, "u8"), (Numbers{255, 0, 254}));
  EXPECT_EQ(unary("convert", "f32", "{100, -100, 2.5}", 3, "s4"), (Numbers{7, -8, 2}));
  EXPECT_EQ(unary("convert", "s32", "{300, -1}", 2, "s8"), (Numbers{44, -1}));
  EXPECT_EQ(unary("convert", "f32", "{0.5, 0, nan}", 3, "pred"), (Numbers{1, 0, 1}));
  const Numbers small = unary("convert", "f32", "{300, -500, 0.0019, 17.1}", 4, "f8e4m3fn");
  EXPECT_EQ(small[0], 288);
  EXPECT_TRUE(std::isnan(small[1]));
  EXPECT_EQ(small[2], 0.001953125);
  EXPECT_EQ(small[3], 18);
}

TEST(Elementwise, Bf16RoundsAfterEachOp) {
  const std::string a = "{1, 2.5, -3.140625, 100}", b = "{0.0078125, 1.1, 2.2, 3.3}";
  EXPECT_EQ(binary("add", "bf16", a, b, 4), (Numbers{1.0078125, 3.59375, -0.9375, 103.5}));
  EXPECT_EQ(binary("multiply", "bf16", a, b, 4), (Numbers{0.0078125, 2.75, -6.90625, 330}));
  const std::string chain =
      "a = bf16[] constant(256)\nb = bf16[] constant(1)\nc = bf16[] add(a, b)\n"
      "ROOT d = bf16[] subtract(c, a)";
  EXPECT_EQ(evaluate_text(chain), (Numbers{0}));
  EvalOptions ideal;
  ideal.ideal_floats = true;
  EXPECT_EQ(evaluate_text(chain, ideal), (Numbers{1}));
}

TEST(Elementwise, MinimumAndMaximumCarryNan) {
  const Numbers got = binary("maximum", "f32", "{nan, 1, -1}", "{1, nan, -2}", 3);
  EXPECT_TRUE(std::isnan(got[0]) && std::isnan(got[1]));
  EXPECT_EQ(got[2], -1);
}

TEST(Elementwise, TotalOrderOfZerosAndNan) {
  const std::string text =
      "a = f32[4] constant({-0, 0, nan, 1})\nb = f32[4] constant({0, -0, inf, -nan})\n"
      "ROOT r = pred[4] compare(a, b), direction=LT, type=TOTALORDER";
  EXPECT_EQ(evaluate_text(text), (Numbers{1, 0, 0, 0}));
}

TEST(Elementwise, ScalarsOfClampAndSelectStandForAll) {
  EXPECT_EQ(evaluate_text("l = f32[] constant(0)\nh = f32[] constant(1)\n"
                          "x = f32[3] constant({-1, 0.5, 7})\nROOT r = f32[3] clamp(l, x, h)"),
            (Numbers{0, 0.5, 1}));
  EXPECT_EQ(evaluate_text("p = pred[] constant(false)\na = s32[2] constant({1, 2})\n"
                          "b = s32[2] constant({3, 4})\nROOT r = s32[2] select(p, a, b)"),
            (Numbers{3, 4}));
}

TEST(Elementwise, ReducePrecision) {
  EXPECT_EQ(evaluate_text("x = f32[4] constant({1.00390625, 1.01171875, 1e10, 1e-10})\n"
                          "ROOT r = f32[4] reduce-precision(x), exponent_bits=5, mantissa_bits=7"),
            (Numbers{1, 1.015625, HUGE_VAL, 0}));
}

// A fusion's chain over many blocks, with values seen through strides: (x^T * 2 + i) - x[0].
TEST(Elementwise, FusionOverManyBlocks) {
  const int n = 200;
  std::vector<float> values(n * n);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 1013);
  const std::string text =
      "HloModule m\nf {\n x = f32[200,200] parameter(0)\n t = f32[200,200] transpose(x), "
      "dimensions={1,0}\n two = f32[] constant(2)\n b = f32[200,200] broadcast(two), "
      "dimensions={}\n m = f32[200,200] multiply(t, b)\n i = f32[200,200] iota(), "
      "iota_dimension=1\n s = f32[200,200] add(m, i)\n row = f32[1,200] slice(x), "
      "slice={[0:1], [0:200]}\n flat = f32[200] reshape(row)\n all = f32[200,200] "
      "broadcast(flat), dimensions={1}\n ROOT r = f32[200,200] subtract(s, all)\n}\n"
      "ENTRY e {\n x = f32[200,200] parameter(0)\n ROOT r = f32[200,200] fusion(x), kind=kLoop, "
      "calls=f\n}\n";
  for (int threads : {1, 2}) {
    EvalOptions options;
    options.threads = threads;
    const auto rows = test::run_well(text, {{test::f32({n, n}, values)}}, options);
    ASSERT_EQ(rows.size(), 1u);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        ASSERT_EQ(rows[0][i * n + j], values[j * n + i] * 2 + j - values[j]) << i << "," << j;
  }
}

// 1.0009765625 is an eighth of the way from 1 to the next bf16, 1.0078125: random numbers below
// an eighth of the range go up. Of e4m3fn, 1.03125 is a quarter of the way to 1.125.
TEST(Elementwise, StochasticConversionToNarrowerFloats) {
  const auto rows = test::run_well(
      "HloModule m\nENTRY e {\n x = f32[4] constant({1.0009765625, 1.0009765625, -1.0009765625, "
      "1})\n r = u32[4] constant({536870911, 536870912, 0, 0})\n b = bf16[4] "
      "stochastic-convert(x, r)\n y = f32[4] constant({1.03125, 1.03125, -1.03125, inf})\n s = "
      "u32[4] constant({1073741823, 1073741824, 0, 0})\n e = f8e5m2[4] stochastic-convert(y, s)\n "
      "f = f8e4m3fn[4] stochastic-convert(y, s)\n ROOT t = (bf16[4], f8e4m3fn[4], f8e5m2[4]) "
      "tuple(b, f, e)\n}\n",
      {{}});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(Numbers(rows[0].begin(), rows[0].begin() + 7),
            (Numbers{1.0078125, 1, -1.0078125, 1, 1.125, 1, -1.125}));
  EXPECT_TRUE(std::isnan(rows[0][7]));
  EXPECT_EQ(rows[0][9], 1);
  EXPECT_TRUE(std::isinf(rows[0][11]));
}

TEST(Elementwise, ComplexFunctions) {
  const auto rows = test::run_well(
      "HloModule m\nENTRY e {\n a = f32[2] constant({3, -1})\n b = f32[2] constant({4, 0})\n"
      " c = c64[2] complex(a, b)\n l = f32[2] abs(c)\n s = c64[2] sqrt(c)\n i = f32[2] imag(s)\n"
      " ROOT t = (f32[2], f32[2]) tuple(l, i)\n}\n",
      {{}});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0], (Numbers{5, 1, 1, 1}));
}

// What cancels is zero, not the rounding of a quotient by the larger part.
TEST(Elementwise, ComplexQuotients) {
  const auto rows = test::run_well(
      "HloModule m\nENTRY e {\n a = f32[4] constant({3, 0.1, 1e38, 1})\n b = f32[4] constant({7, "
      "-0.7, 1e38, 2})\n c = c64[4] complex(a, b)\n d = c64[4] divide(c, c)\n r = f32[4] real(d)\n"
      " i = f32[4] imag(d)\n z = f32[4] constant({0, 0, 0, 0})\n o = c64[4] complex(z, z)\n"
      " q = c64[4] divide(c, o)\n p = f32[4] real(q)\n"
      " ROOT t = (f32[4], f32[4], f32[4]) tuple(r, i, p)\n}\n",
      {{}});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(Numbers(rows[0].begin(), rows[0].begin() + 8), (Numbers{1, 1, 1, 1, 0, 0, 0, 0}));
  for (size_t i = 8; i < 12; ++i) EXPECT_TRUE(std::isinf(rows[0][i])) << i;
}

}  // namespace
}  // namespace hilo

// Custom calls: their definitions written out, adjoints and inverses.
#include <cmath>
#include <set>

#include "devices.h"

namespace hilo::test {
namespace {

using Rows = std::vector<Numbers>;

std::vector<float> numbers(int64_t count, uint32_t seed) {
  std::vector<float> out(count);
  for (float& x : out) {
    seed = seed * 1664525u + 1013904223u;
    x = static_cast<float>(static_cast<int32_t>(seed >> 8) % 1000) / 500.0f - 1.0f;
  }
  return out;
}

Numbers one(const std::string& body, std::vector<Literal> inputs, const EvalOptions& options = {}) {
  const Rows rows = run_well("HloModule m\n" + body, {std::move(inputs)}, options);
  return rows.empty() ? Numbers{} : rows[0];
}

void expect_near(const Numbers& got, const Numbers& want, double tolerance = 1e-5) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], tolerance) << i;
}

TEST(CustomCall, ControlDependenciesAndSinksGiveNothing) {
  for (const std::string call :
       {"(a, b), custom_call_target=\"control_dep\"", "(a), custom_call_target=\"dce_sink\""}) {
    const Numbers got =
        one("ENTRY e { x = f32[2] parameter(0)\n a = f32[2] add(x, x)\n b = f32[2] negate(x)\n"
            " c = () custom-call" +
                call + ", custom_call_has_side_effect=true\n ROOT r = f32[2] add(a, b)\n}\n",
            {Literal::from<float>({2}, std::array{1.0f, -3.0f})});
    EXPECT_EQ(got, (Numbers{1, -3}));
  }
}

TEST(CustomCall, UnknownTargetSaysHowToSupplyIt) {
  auto rows =
      run("HloModule m\nENTRY e { p = f32[2] parameter(0)\n ROOT c = f32[2] "
          "custom-call(p), custom_call_target=\"mystery\"\n}\n",
          ramps(1, {2}));
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().kind, ErrorKind::Unsupported);
  EXPECT_NE(rows.error().message.find("mystery=lib.so"), std::string::npos);
  EXPECT_NE(rows.error().message.find("mystery=zeros"), std::string::npos);
}

TEST(CustomCall, SuppliedFunctionComesFirst) {
  EvalOptions options;
  options.custom_calls["TopK"] = [](const CustomCallArguments& call) -> Result<void> {
    EXPECT_EQ(call.backend_config, "hello");
    call.results[0].mutable_data<float>()[0] = 2 * call.operands[0].data<float>()[1];
    return {};
  };
  const std::string text =
      "ENTRY e { p = f32[2] parameter(0)\n ROOT c = f32[1] custom-call(p), "
      "custom_call_target=\"TopK\", backend_config=\"hello\"\n}\n";
  EXPECT_EQ(one(text, {f32({2}, {1, 21})}, options), (Numbers{42}));
  options.custom_calls["TopK"] = *load_custom_call("TopK", "zeros");
  EXPECT_EQ(one(text, {f32({2}, {1, 21})}, options), (Numbers{0}));
}

TEST(CustomCall, TheTableHasNoTargetTwice) {
  std::set<std::string_view> seen;
  for (const CustomCallInfo& info : known_custom_calls()) {
    EXPECT_TRUE(seen.insert(info.target).second) << info.target;
    EXPECT_FALSE(info.meaning.empty()) << info.target;
  }
  EXPECT_GT(seen.size(), 80u);
}

TEST(ConcatBitcast, PhysicalBytesOneAfterTheOther) {
  // Read column by column: element (i, j) stands at 4 j + i.
  EXPECT_EQ(one("ENTRY e { p = f32[2,2]{1,0} parameter(0)\n q = f32[4]{0} parameter(1)\n ROOT c = "
                "f32[4,2]{0,1} custom-call(p, q), custom_call_target=\"ConcatBitcast\"\n}\n",
                {f32({2, 2}, {0, 1, 2, 3}), f32({4}, {4, 5, 6, 7})}),
            (Numbers{0, 4, 1, 5, 2, 6, 3, 7}));
}

TEST(AllocateBuffer, IsZeros) {
  EXPECT_EQ(
      one("ENTRY e { ROOT c = f32[3] custom-call(), custom_call_target=\"AllocateBuffer\"\n}\n",
          {}),
      (Numbers{0, 0, 0}));
}

TEST(TopK, ValuesAndPlaces) {
  EXPECT_EQ(one("ENTRY e { p = f32[2,4] parameter(0)\n ROOT c = (f32[2,2], s32[2,2]) "
                "custom-call(p), custom_call_target=\"TopK\"\n}\n",
                {f32({2, 4}, {3, 9, 4, 1, -5, -2, -7, -1})}),
            (Numbers{9, 4, -1, -2, 1, 2, 3, 1}));
}

TEST(RadixSort, KeysWithValues) {
  EXPECT_EQ(one("ENTRY e { p = f32[4] parameter(0)\n q = f32[4] parameter(1)\n ROOT c = (f32[4], "
                "f32[4], u8[3]) custom-call(p, q), custom_call_target=\"__cub$DeviceRadixSort\", "
                "backend_config={\"descending\":true}\n}\n",
                {f32({4}, {1, -3, 7, -0.0f}), f32({4}, {10, 20, 30, 40})}),
            (Numbers{7, 1, -0.0, -3, 30, 10, 40, 20, 0, 0, 0}));
}

TEST(InvertDiagBlocksLowerTriangular, TimesTheMatrixIsTheIdentity) {
  const Numbers inverse =
      one("ENTRY e { p = f32[1,3,3] parameter(0)\n ROOT c = f32[1,3,3] custom-call(p), "
          "custom_call_target=\"InvertDiagBlocksLowerTriangular\"\n}\n",
          {f32({1, 3, 3}, {2, 0, 0, 1, 4, 0, -3, 5, 8})});
  const double a[] = {2, 0, 0, 1, 4, 0, -3, 5, 8};
  ASSERT_EQ(inverse.size(), 9u);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      double sum = 0;
      for (int k = 0; k < 3; ++k) sum += a[i * 3 + k] * inverse[k * 3 + j];
      EXPECT_NEAR(sum, i == j ? 1 : 0, 1e-6);
    }
}

// alpha a b + beta c + bias for a [2,3], b [3,4].
struct GemmCase {
  std::vector<float> a = numbers(6, 1), b = numbers(12, 2), c = numbers(8, 3), bias = numbers(4, 4);
  double at(int i, int j, double alpha, double beta, bool with_bias) const {
    double sum = 0;
    for (int k = 0; k < 3; ++k) sum += double{a[i * 3 + k]} * b[k * 4 + j];
    return alpha * sum + beta * c[i * 4 + j] + (with_bias ? bias[j] : 0);
  }
  std::string config(const std::string& epilogue, double alpha, double beta) const {
    return "backend_config={\"gemm_backend_config\":{\"alpha_real\":" + std::to_string(alpha) +
           ",\"alpha_imag\":0,\"beta\":" + std::to_string(beta) +
           ",\"dot_dimension_numbers\":{\"lhs_contracting_dimensions\":[\"1\"],"
           "\"rhs_contracting_dimensions\":[\"0\"],\"lhs_batch_dimensions\":[],"
           "\"rhs_batch_dimensions\":[]},\"epilogue\":\"" +
           epilogue + "\"}}\n";
  }
};

double gelu(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

TEST(CublasLt, MatrixAndVectorBiasWithRelu) {
  const GemmCase g;
  Numbers want;
  for (int i = 0; i < 8; ++i) want.push_back(std::max(0.0, g.at(i / 4, i % 4, 1.5, -0.5, true)));
  Numbers got =
      one("ENTRY e { a = f32[2,3] parameter(0)\n b = f32[3,4] parameter(1)\n c = f32[2,4] "
          "parameter(2)\n v = f32[4] parameter(3)\n ROOT r = (f32[2,4], s8[4]) "
          "custom-call(a, b, c, v), custom_call_target=\"__cublas$lt$matmul\", " +
              g.config("BIAS_RELU", 1.5, -0.5) + "}\n",
          {f32({2, 3}, g.a), f32({3, 4}, g.b), f32({2, 4}, g.c), f32({4}, g.bias)});
  want.resize(12);  // the workspace
  expect_near(got, want);
}

TEST(CublasLt, GeluWithItsArgumentBesideIt) {
  const GemmCase g;
  Numbers want, arguments;
  for (int i = 0; i < 8; ++i) {
    arguments.push_back(g.at(i / 4, i % 4, 1, 0, true));
    want.push_back(gelu(arguments.back()));
  }
  want.insert(want.end(), arguments.begin(), arguments.end());
  expect_near(one("ENTRY e { a = f32[2,3] parameter(0)\n b = f32[3,4] parameter(1)\n v = f32[4] "
                  "parameter(2)\n ROOT r = (f32[2,4], f32[2,4]) custom-call(a, b, v), "
                  "custom_call_target=\"__cublas$lt$matmul\", " +
                      g.config("BIAS_GELU_AUX", 1, 0) + "}\n",
                  {f32({2, 3}, g.a), f32({3, 4}, g.b), f32({4}, g.bias)}),
              want);
}

TEST(CublasLt, EpilogueDefaultReluBiasGelu) {
  const GemmCase g;
  for (const std::string epilogue : {"DEFAULT", "RELU", "GELU"}) {
    Numbers want;
    for (int i = 0; i < 8; ++i) {
      const double x = g.at(i / 4, i % 4, 1, 2, false);
      want.push_back(epilogue == "RELU" ? std::max(0.0, x) : epilogue == "GELU" ? gelu(x) : x);
    }
    expect_near(
        one("ENTRY e { a = f32[2,3] parameter(0)\n b = f32[3,4] parameter(1)\n c = f32[2,4] "
            "parameter(2)\n ROOT r = f32[2,4] custom-call(a, b, c), "
            "custom_call_target=\"__cublas$gemm\", " +
                g.config(epilogue, 1, 2) + "}\n",
            {f32({2, 3}, g.a), f32({3, 4}, g.b), f32({2, 4}, g.c)}),
        want);
  }
}

TEST(CublasLtF8, ScalesOfOperandsAndResult) {
  // All values are exact in f8e4m3fn: a = 1, b = 2, three products each: 6 * 0.5 * 4 = 12; D is
  // scaled by 100 and saturates at 448.
  const GemmCase g;
  const Numbers got = one(
      "ENTRY e { one = f8e4m3fn[] constant(1)\n a = f8e4m3fn[2,3] broadcast(one), dimensions={}\n "
      "two = f8e4m3fn[] constant(2)\n b = f8e4m3fn[3,4] broadcast(two), dimensions={}\n sa = f32[] "
      "constant(0.5)\n sb = f32[] constant(4)\n sd = f32[] constant(100)\n f = (f32[2,4], s8[1]) "
      "custom-call(a, b, sa, sb), custom_call_target=\"__cublas$lt$matmul$f8\", " +
          g.config("DEFAULT", 1, 0) +
          "n = (f8e4m3fn[2,4], s8[1]) custom-call(a, b, sa, sb, sd), "
          "custom_call_target=\"__cublas$lt$matmul$f8\", " +
          g.config("DEFAULT", 1, 0) +
          "ROOT t = ((f32[2,4], s8[1]), (f8e4m3fn[2,4], s8[1])) tuple(f, n)\n}\n",
      {});
  ASSERT_EQ(got.size(), 18u);
  EXPECT_EQ(got[0], 12);
  EXPECT_EQ(got[9], 448);
}

// <conv(x), y> = <x, backward_input(y)> = <kernel, backward_filter(y)> for all x, kernel and y.
struct ConvolutionCase {
  std::string input, kernel, output, window, labels;
  int groups = 1;
};

double inner(const Numbers& a, const Numbers& b, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

Literal random_of(const std::string& shape, uint32_t seed) {
  auto parsed = parse_shape("f32" + shape);
  EXPECT_TRUE(parsed.has_value());
  return f32(parsed->dims, numbers(element_count(*parsed), seed));
}

Numbers flat(const Literal& literal) {
  Numbers out;
  flatten(literal, out);
  return out;
}

TEST(CudnnConvolution, BackwardCallsAreTheAdjoints) {
  const ConvolutionCase cases[] = {
      {"[2,7,6,3]", "[4,3,2,3]", "[2,4,4,4]", "{size=3x2 stride=2x2 pad=1_1x0_2}",
       "b01f_o01i->b01f"},
      {"[1,9,8,4]", "[6,3,3,2]", "[1,5,6,6]", "{size=3x3 rhs_dilate=2x1}", "b01f_o01i->b01f", 2},
      {"[2,2,7]", "[2,1,3]", "[2,2,4]", "{size=3 stride=2 pad=2_0}", "bf0_oi0->bf0", 2},
  };
  for (const ConvolutionCase& c : cases) {
    const Literal x = random_of(c.input, 5), w = random_of(c.kernel, 6), y = random_of(c.output, 7);
    const std::string attributes = ", window=" + c.window + ", dim_labels=" + c.labels +
                                   ", feature_group_count=" + std::to_string(c.groups);
    const auto call = [&](const std::string& target, const std::string& a, const std::string& b,
                          const std::string& result) {
      return "ENTRY e { a = f32" + a + " parameter(0)\n b = f32" + b +
             " parameter(1)\n ROOT r = (f32" + result + ", u8[2]) custom-call(a, b)" + attributes +
             ", custom_call_target=\"" + target +
             "\", backend_config={\"cudnn_conv_backend_config\":{\"conv_result_scale\":1}}\n}\n";
    };
    const Numbers forward = one(call("__cudnn$convForward", c.input, c.kernel, c.output), {x, w});
    const Numbers plain = one("ENTRY e { a = f32" + c.input + " parameter(0)\n b = f32" + c.kernel +
                                  " parameter(1)\n ROOT r = f32" + c.output + " convolution(a, b)" +
                                  attributes + "\n}\n",
                              {x, w});
    const Numbers to_input =
        one(call("__cudnn$convBackwardInput", c.output, c.kernel, c.input), {y, w});
    const Numbers to_kernel =
        one(call("__cudnn$convBackwardFilter", c.input, c.output, c.kernel), {x, y});
    ASSERT_EQ(forward.size(), plain.size() + 2) << c.input;
    expect_near(Numbers(forward.begin(), forward.end() - 2), plain);
    const double product = inner(forward, flat(y), flat(y).size());
    EXPECT_NEAR(inner(to_input, flat(x), flat(x).size()), product, 1e-4) << c.input;
    EXPECT_NEAR(inner(to_kernel, flat(w), flat(w).size()), product, 1e-4) << c.input;
  }
}

TEST(CudnnConvolution, BiasSideInputAndActivation) {
  // 1x1 convolution with kernel 2: y = relu(3 * 2 x + 0.5 side + bias).
  const Numbers got = one(
      "ENTRY e { x = f32[1,1,2,1] parameter(0)\n w = f32[1,1,1,1] constant({{{{2}}}})\n b = f32[1] "
      "constant({1})\n s = f32[1,1,2,1] parameter(1)\n ROOT r = (f32[1,1,2,1], u8[1]) "
      "custom-call(x, w, b, s), window={size=1x1}, dim_labels=b01f_o01i->b01f, "
      "custom_call_target=\"__cudnn$convBiasActivationForward\", "
      "backend_config={\"cudnn_conv_backend_config\":{\"activation_mode\":\"kRelu\","
      "\"conv_result_scale\":3,\"side_input_scale\":0.5}}\n}\n",
      {f32({1, 1, 2, 1}, {1, -1}), f32({1, 1, 2, 1}, {4, 6})});
  EXPECT_EQ(got, (Numbers{9, 0, 0}));
}

}  // namespace
}  // namespace hilo::test

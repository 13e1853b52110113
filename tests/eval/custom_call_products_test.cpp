// Products of libraries and what follows them: sums written out, identities, plain HLO beside them.
#include <cmath>

#include "devices.h"

namespace hilo::test {
namespace {

std::vector<float> numbers(int64_t count, uint32_t seed) {
  std::vector<float> out(count);
  for (float& x : out) {
    seed = seed * 1664525u + 1013904223u;
    x = static_cast<float>(static_cast<int32_t>(seed >> 8) % 1000) / 500.0f - 1.0f;
  }
  return out;
}

Numbers one(const std::string& body, std::vector<Literal> inputs) {
  const auto rows = run_well("HloModule m\n" + body, {std::move(inputs)});
  return rows.empty() ? Numbers{} : rows[0];
}

void expect_near(const Numbers& got, const Numbers& want, double tolerance = 1e-5) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], tolerance) << i;
}

// Both halves of a result that holds two arrays of one size.
void expect_halves_equal(const Numbers& got, double tolerance) {
  ASSERT_GT(got.size(), 0u);
  for (size_t i = 0; i < got.size() / 2; ++i)
    ASSERT_NEAR(got[i], got[got.size() / 2 + i], tolerance) << i;
}

// x and y of 8 bits with scales for blocks of 32 along 64, and their product in f32 beside.
const std::string scaled_operands =
    " x = f32[3,64] parameter(0)\n y = f32[5,64] parameter(1)\n s = f32[3,2] constant({{1, 2}, "
    "{0.5, 4}, {1, 1}})\n t = f32[5,2] constant({{2, 1}, {1, 1}, {8, 0.25}, {1, 2}, {4, 4}})\n a = "
    "f8e4m3fn[3,64] convert(x)\n b = f8e4m3fn[5,64] convert(y)\n as = f8e8m0fnu[3,2] convert(s)\n "
    "bs = f8e8m0fnu[5,2] convert(t)\n aw = f32[3,64] convert(a)\n bw = f32[5,64] convert(b)\n sb = "
    "f32[3,2,32] broadcast(s), dimensions={0,1}\n tb = f32[5,2,32] broadcast(t), "
    "dimensions={0,1}\n sr = f32[3,64] reshape(sb)\n tr = f32[5,64] reshape(tb)\n am = f32[3,64] "
    "multiply(aw, sr)\n bm = f32[5,64] multiply(bw, tr)\n want = f32[3,5] dot(am, bm), "
    "lhs_contracting_dims={1}, rhs_contracting_dims={1}\n";

Numbers scaled(const std::string& product) {
  return one("ENTRY e {\n" + scaled_operands + product +
                 "\n ROOT r = (f32[3,5], f32[3,5]) "
                 "tuple(got, want)\n}\n",
             {f32({3, 64}, numbers(192, 1)), f32({5, 64}, numbers(320, 2))});
}

TEST(ScaledProducts, ScalesStandForBlocks) {
  expect_halves_equal(scaled(" got = f32[3,5] custom-call(a, b, as, bs), custom_call_target="
                             "\"__op$block_scaled_dot\""),
                      1e-3);
  expect_halves_equal(
      scaled(" c = (f32[3,5], s8[16]) custom-call(a, b, as, bs), "
             "custom_call_target=\"__cublas$lt$matmul$mx\", "
             "backend_config={\"gemm_backend_config\":{\"alpha_real\":1,\"beta\":0,"
             "\"dot_dimension_numbers\":{\"lhs_contracting_dimensions\":[\"1\"],"
             "\"rhs_contracting_dimensions\":[\"1\"]}}}\n got = f32[3,5] get-tuple-element(c), "
             "index=0"),
      1e-3);
}

// cuDNN wants scales padded to 128 x 4 and in another order, which XLA makes by these ops.
TEST(ScaledProducts, CudnnHasScalesInItsOwnOrder) {
  const auto swizzle = [](const std::string& from, const std::string& name, int rows) {
    return " " + name + "p = f8e8m0fnu[128,4] pad(" + from + ", o), padding=0_" +
           std::to_string(128 - rows) + "x0_2\n " + name + "r = f8e8m0fnu[1,4,32,1,4] reshape(" +
           name + "p)\n " + name + "t = f8e8m0fnu[1,1,32,4,4] transpose(" + name +
           "r), dimensions={0,3,2,1,4}\n " + name + " = f8e8m0fnu[128,4] reshape(" + name + "t)\n";
  };
  expect_halves_equal(scaled(" i = f32[] constant(1)\n o = f8e8m0fnu[] convert(i)\n" +
                             swizzle("as", "p", 3) + swizzle("bs", "q", 5) +
                             " c = (f32[3,5], u8[16]) custom-call(a, b, p, q), "
                             "custom_call_target=\"__cudnn$blockScaledDot\"\n got = f32[3,5] "
                             "get-tuple-element(c), index=0"),
                      1e-3);
}

// (1 + 2i) (3 + i) (2 - i) = (1 + 2i) (7 - i)
TEST(Cublas, AlphaMayBeComplex) {
  const std::string text =
      "HloModule m\nENTRY e { a = c64[1,1] constant({{(3, 1)}})\n b = c64[1,1] constant({{(2, "
      "-1)}})\n c = (c64[1,1], s8[4]) custom-call(a, b), custom_call_target=\"__cublas$gemm\", "
      "backend_config={\"gemm_backend_config\":{\"alpha_real\":1,\"alpha_imag\":2,\"beta\":0,"
      "\"dot_dimension_numbers\":{\"lhs_contracting_dimensions\":[\"1\"],"
      "\"rhs_contracting_dimensions\":[\"0\"]}}}\n x = c64[1,1] get-tuple-element(c), index=0\n "
      "re = f32[1,1] real(x)\n im = f32[1,1] imag(x)\n ROOT r = (f32[1,1], f32[1,1]) tuple(re, "
      "im)\n}\n";
  EXPECT_EQ(run_well(text, {{}}).at(0), (Numbers{9, 13}));
}

TEST(GroupedProduct, EachGroupHasItsOwnMatrix) {
  const auto x = numbers(6 * 3, 1), w = numbers(2 * 3 * 4, 2);
  const Numbers got = one(
      "ENTRY e { x = f32[6,3] parameter(0)\n w = f32[2,3,4] parameter(1)\n g = s32[2] "
      "constant({2, 4})\n c = (f32[6,4], s8[64]) custom-call(x, w, g), "
      "custom_call_target=\"__cublas$lt$groupedMatmul\", "
      "backend_config={\"grouped_gemm_backend_config\":{\"gemm_backend_config\":{"
      "\"alpha_real\":2,\"beta\":0,\"epilogue\":\"DEFAULT\"},\"ragged_dot_dimension_numbers\":{"
      "\"dot_dimension_numbers\":{\"lhs_contracting_dimensions\":[\"1\"],"
      "\"rhs_contracting_dimensions\":[\"1\"],\"lhs_batch_dimensions\":[],"
      "\"rhs_batch_dimensions\":[]},\"lhs_ragged_dimensions\":[\"0\"],"
      "\"rhs_group_dimensions\":[\"0\"]}}}\n ROOT r = f32[6,4] get-tuple-element(c), index=0\n}\n",
      {f32({6, 3}, x), f32({2, 3, 4}, w)});
  Numbers want;
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 4; ++j) {
      double sum = 0;
      for (int k = 0; k < 3; ++k) sum += 2 * x[i * 3 + k] * w[((i < 2 ? 0 : 1) * 3 + k) * 4 + j];
      want.push_back(sum);
    }
  expect_near(got, want);
}

// A convolution of one element: 3 x; the graph scales by 2, adds, takes what is positive and the
// largest magnitude before it is divided and rounded to 8 bits.
TEST(CudnnGraph, OpsBehindAConvolution) {
  const Numbers got =
      one("ENTRY e { x = f32[1,1,4,1] parameter(0)\n k = f32[1,1,1,1] constant({{{{3}}}})\n a = "
          "f8e4m3fn[1,1,4,1] convert(x)\n b = f8e4m3fn[1,1,1,1] convert(k)\n s = f32[] "
          "constant(2)\n c = f32[1,1,4,1] constant({{{{1},{1},{1},{100}}}})\n d = f32[] "
          "constant(0.5)\n ROOT r = (f8e4m3fn[1,1,4,1], f32[], u8[0]) custom-call(a, b, s, c, d), "
          "window={size=1x1}, dim_labels=b01f_01io->b01f, "
          "custom_call_target=\"__cudnn$convForwardGraph\", "
          "backend_config={\"cudnn_conv_backend_config\":{\"conv_result_scale\":1,"
          "\"serialized_graph\":\"1:[f32]conv();2:[f32]scale(1);3:[f32]add(2);4:[f32]relu(3);5:["
          "f8e4m3fn]invscale(4);6:[f32]amax(4);\"}}\n}\n",
          {f32({1, 1, 4, 1}, {1, -2, 2, 40})});
  expect_near(got, {14, 0, 26, 448, 340});  // 6 x + c; 340 / 0.5 saturates
}

TEST(CudnnGraph, UnknownOpsAreNamed) {
  const auto rows = run(
      "HloModule m\nENTRY e { x = f32[1,1,4,1] parameter(0)\n k = f32[1,1,1,1] "
      "constant({{{{3}}}})\n ROOT r = (f32[1,1,4,1], u8[0]) custom-call(x, k), window={size=1x1}, "
      "dim_labels=b01f_01io->b01f, custom_call_target=\"__cudnn$convForwardGraph\", "
      "backend_config={\"cudnn_conv_backend_config\":{\"serialized_graph\":\"1:[f32]conv();2:[f32]"
      "warp(1);\"}}\n}\n",
      {{f32({1, 1, 4, 1}, {1, -2, 2, 40})}});
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().kind, ErrorKind::Unsupported);
  EXPECT_NE(rows.error().message.find("warp"), std::string::npos);
}

struct Norm {
  Numbers value, mean, factor;
};
Norm layer_norm(const Numbers& x, const Numbers& scale, const Numbers& bias, double epsilon) {
  const size_t m = scale.size(), n = x.size() / m;
  Norm out{Numbers(x.size()), {}, {}};
  for (size_t r = 0; r < n; ++r) {
    double mean = 0, variance = 0;
    for (size_t c = 0; c < m; ++c) mean += x[r * m + c] / m;
    for (size_t c = 0; c < m; ++c) variance += std::pow(x[r * m + c] - mean, 2) / m;
    const double factor = 1 / std::sqrt(variance + epsilon);
    out.mean.push_back(mean), out.factor.push_back(factor);
    for (size_t c = 0; c < m; ++c)
      out.value[r * m + c] = (x[r * m + c] - mean) * factor * scale[c] + bias[c];
  }
  return out;
}

Numbers joined(std::initializer_list<Numbers> parts) {
  Numbers out;
  for (const Numbers& part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

TEST(CudnnNorm, ForwardAndItsGradients) {
  const auto xs = numbers(12, 1), ss = numbers(4, 2), bs = numbers(4, 3), gs = numbers(12, 4);
  Numbers x(xs.begin(), xs.end()), s(ss.begin(), ss.end()), b(bs.begin(), bs.end());
  const Norm want = layer_norm(x, s, b, 0.001);
  const auto config = [](const std::string& kind) {
    return ", custom_call_target=\"__cudnn$norm\", backend_config={\"cudnn_norm_backend_config\":{"
           "\"epsilon\":0.001,\"kind\":\"" +
           kind + "\"}}";
  };
  const std::string text =
      "ENTRY e { x = f32[3,4,1,1] parameter(0)\n s = f32[4,1,1,1] parameter(1)\n b = f32[4,1,1,1] "
      "parameter(2)\n g = f32[3,4,1,1] parameter(3)\n f = (f32[3,4,1,1], f32[3,1,1,1], "
      "f32[3,1,1,1], u8[4]) custom-call(x, s, b)" +
      config("LAYER_FWD_TRAIN") +
      "\n y = f32[3,4,1,1] get-tuple-element(f), index=0\n m = f32[3,1,1,1] get-tuple-element(f), "
      "index=1\n n = f32[3,1,1,1] get-tuple-element(f), index=2\n d = (f32[3,4,1,1], "
      "f32[4,1,1,1], f32[4,1,1,1], u8[4]) custom-call(x, s, g, m, n)" +
      config("LAYER_BWD") +
      "\n dx = f32[3,4,1,1] get-tuple-element(d), index=0\n ds = f32[4,1,1,1] "
      "get-tuple-element(d), index=1\n db = f32[4,1,1,1] get-tuple-element(d), index=2\n ROOT r = "
      "(f32[3,4,1,1], f32[3,1,1,1], f32[3,1,1,1], f32[3,4,1,1], f32[4,1,1,1], f32[4,1,1,1]) "
      "tuple(y, m, n, dx, ds, db)\n}\n";
  const Numbers got = one(text, {f32({3, 4, 1, 1}, xs), f32({4, 1, 1, 1}, ss),
                                 f32({4, 1, 1, 1}, bs), f32({3, 4, 1, 1}, gs)});
  Numbers gradients;
  for (Numbers* array : {&x, &s, &b})
    for (double& value : *array) {
      const double saved = value;
      double change = 0;
      for (double sign : {1.0, -1.0}) {
        value = saved + sign * 1e-4;
        const Norm now = layer_norm(x, s, b, 0.001);
        for (size_t i = 0; i < now.value.size(); ++i) change += sign * now.value[i] * gs[i];
      }
      value = saved;
      gradients.push_back(change / 2e-4);
    }
  expect_near(got, joined({want.value, want.mean, want.factor, gradients}), 2e-4);
}

TEST(OneDnn, ProductWithFusedOps) {
  const auto a = numbers(2 * 4 * 3, 1), b = numbers(2 * 5 * 4, 2), c = numbers(5, 3);
  const Numbers got =
      one("ENTRY e { a = f32[2,4,3] parameter(0)\n b = f32[2,5,4] parameter(1)\n c = f32[1,5] "
          "parameter(2)\n ROOT r = f32[2,3,5] custom-call(a, b, c), "
          "custom_call_target=\"__onednn$matmul\", "
          "backend_config={\"onednn_matmul_config\":{\"transpose_a\":true,\"transpose_b\":true,"
          "\"fusions\":{\"ops\":[\"BIAS\",\"GELU_ERF\"]}}}\n}\n",
          {f32({2, 4, 3}, a), f32({2, 5, 4}, b), f32({1, 5}, c)});
  Numbers want;
  for (int n = 0; n < 2; ++n)
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 5; ++j) {
        double sum = c[j];
        for (int k = 0; k < 4; ++k) sum += a[(n * 4 + k) * 3 + i] * b[(n * 5 + j) * 4 + k];
        want.push_back(sum / 2 * (1 + std::erf(sum / std::sqrt(2.0))));
      }
  expect_near(got, want);
}

// Sizes and spatial dimensions stand one larger in newer settings, as they are in older ones.
TEST(OneDnn, ConvolutionIsThePlainOne) {
  const auto settings = [](const std::string& spatial, const std::string& kernel,
                           const std::string& low, const std::string& high,
                           const std::string& strides, const std::string& dilations) {
    return "backend_config={\"onednn_conv_config\":{\"dims\":\"4\",\"input\":{\"dims\":\"4\","
           "\"data\":{\"feature_dim\":\"3\",\"spatial_dims\":[" +
           spatial +
           "]}},\"kernel\":{\"filter\":{\"input_feature_dim\":\"2\","
           "\"output_feature_dim\":\"3\",\"spatial_dims\":[" +
           kernel + "]}},\"output\":{\"data\":{\"feature_dim\":\"3\",\"spatial_dims\":[" + spatial +
           "]}},\"window\":{\"pad_left\":[" + low + "],\"pad_right\":[" + high + "],\"strides\":[" +
           strides + "],\"window_dilations\":[" + dilations +
           "]},\"fusions\":{\"ops\":[\"RELU\"]},\"feature_groups\":\"1\"}}";
  };
  const std::string older = settings(R"("1","2")", R"("0","1")", R"("1","0")", R"("0","2")",
                                     R"("2","1")", R"("1","2")"),
                    newer = settings(R"("2","3")", R"("1","2")", R"("2","1")", R"("1","3")",
                                     R"("3","2")", R"("2","3")");
  for (const std::string& config : {older, newer})
    expect_halves_equal(
        one("ENTRY e { x = f32[2,6,5,3] parameter(0)\n k = f32[3,2,3,4] parameter(1)\n p = "
            "f32[2,3,5,4] convolution(x, k), window={size=3x2 stride=2x1 pad=1_0x0_2 "
            "rhs_dilate=1x2}, dim_labels=b01f_01io->b01f\n z = f32[] constant(0)\n zb = "
            "f32[2,3,5,4] broadcast(z), dimensions={}\n want = f32[2,3,5,4] maximum(p, zb)\n got = "
            "f32[2,3,5,4] custom-call(x, k), custom_call_target=\"__onednn$convolution\", " +
                config + "\n ROOT r = (f32[2,3,5,4], f32[2,3,5,4]) tuple(got, want)\n}\n",
            {f32({2, 6, 5, 3}, numbers(180, 1)), f32({3, 2, 3, 4}, numbers(72, 2))}),
        1e-5);
}

TEST(OneDnn, LayerNormAndSoftmax) {
  const auto xs = numbers(12, 1), ss = numbers(4, 2), bs = numbers(4, 3);
  const Norm want =
      layer_norm({xs.begin(), xs.end()}, {ss.begin(), ss.end()}, {bs.begin(), bs.end()}, 1e-5f);
  expect_near(one("ENTRY e { x = f32[3,4] parameter(0)\n s = f32[4] parameter(1)\n b = f32[4] "
                  "parameter(2)\n ROOT r = f32[3,4] custom-call(x, s, b), "
                  "custom_call_target=\"__onednn$layernorm\", "
                  "backend_config={\"onednn_layer_norm_config\":{\"rescale\":\"SCALE_AND_SHIFT\","
                  "\"epsilon_typecast\":925353388}}\n}\n",
                  {f32({3, 4}, xs), f32({4}, ss), f32({4}, bs)}),
              want.value);
  const Numbers soft =
      one("ENTRY e { x = f32[3,4] parameter(0)\n ROOT r = f32[3,4] custom-call(x), "
          "custom_call_target=\"__onednn$softmax\", "
          "backend_config={\"onednn_softmax_config\":{\"softmax_axis\":1}}\n}\n",
          {f32({3, 4}, xs)});
  ASSERT_EQ(soft.size(), 12u);
  for (int r = 0; r < 3; ++r) {
    double sum = 0;
    for (int c = 0; c < 4; ++c) sum += std::exp(xs[r * 4 + c]);
    for (int c = 0; c < 4; ++c) EXPECT_NEAR(soft[r * 4 + c], std::exp(xs[r * 4 + c]) / sum, 1e-6);
  }
}

}  // namespace
}  // namespace hilo::test

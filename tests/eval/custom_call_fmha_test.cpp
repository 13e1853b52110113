// cuDNN's attention, and TransformerEngine's with ALiBi, windows, sinks and packed sequences,
// against the formula in doubles; gradients against differences.
#include <cmath>

#include "devices.h"

namespace hilo::test {
namespace {

struct Sizes {
  int b, t, s, n, g, h;  // q [b, t, n, h]; k and v [b, s, g, h]
};
// What is added to the score of a query and a key; nothing: it is not seen.
using Seen = std::function<std::optional<double>(int b, int n, int i, int j)>;

std::vector<float> numbers(int64_t count, uint32_t seed) {
  std::vector<float> out(count);
  for (float& x : out) {
    seed = seed * 1664525u + 1013904223u;
    x = static_cast<float>(static_cast<int32_t>(seed >> 8) % 1000) / 500.0f - 1.0f;
  }
  return out;
}

Numbers doubles(const std::vector<float>& x) { return {x.begin(), x.end()}; }

struct Arrays {
  Numbers q, k, v;
};
Arrays arrays(const Sizes& z) {
  return {doubles(numbers(z.b * z.t * z.n * z.h, 1)), doubles(numbers(z.b * z.s * z.g * z.h, 2)),
          doubles(numbers(z.b * z.s * z.g * z.h, 3))};
}

// [b, t, n, h]; sums of exponentials get `sink` of each head more.
Numbers attention(const Sizes& z, const Arrays& x, double scale, const Seen& seen,
                  const Numbers& sink = {}) {
  Numbers out(z.b * z.t * z.n * z.h);
  for (int b = 0; b < z.b; ++b)
    for (int n = 0; n < z.n; ++n)
      for (int i = 0; i < z.t; ++i) {
        const int g = n / (z.n / z.g);
        Numbers weight(z.s);
        double sum = sink.empty() ? 0 : std::exp(sink[n]);
        for (int j = 0; j < z.s; ++j) {
          const auto added = seen(b, n, i, j);
          if (!added) continue;
          double score = 0;
          for (int f = 0; f < z.h; ++f)
            score +=
                x.q[((b * z.t + i) * z.n + n) * z.h + f] * x.k[((b * z.s + j) * z.g + g) * z.h + f];
          sum += weight[j] = std::exp(score * scale + *added);
        }
        for (int j = 0; j < z.s; ++j)
          for (int f = 0; f < z.h && sum > 0; ++f)
            out[((b * z.t + i) * z.n + n) * z.h + f] +=
                weight[j] / sum * x.v[((b * z.s + j) * z.g + g) * z.h + f];
      }
  return out;
}

std::vector<float> floats(const Numbers& x) { return {x.begin(), x.end()}; }

// [b, t, n, h] as [b, n, t, h]
Numbers heads_first(const Numbers& x, int b, int t, int n, int h) {
  Numbers out;
  for (int i = 0; i < b; ++i)
    for (int l = 0; l < n; ++l)
      for (int j = 0; j < t; ++j)
        for (int f = 0; f < h; ++f) out.push_back(x[((i * t + j) * n + l) * h + f]);
  return out;
}

std::string dims(std::initializer_list<int> sizes) {
  std::string out;
  for (int size : sizes) out += (out.empty() ? "" : ",") + std::to_string(size);
  return "[" + out + "]";
}

std::string fmha_config(const std::string& mask, int window, bool backward) {
  const std::string numbers =
      backward ? R"("bmm1_grad_gemm1_dot_dimension_numbers":{"rhs_batch_dimensions":["0","2"]})"
               : R"("bmm1_dot_dimension_numbers":{"lhs_batch_dimensions":["0","2"]})";
  return R"(, backend_config={"operation_queue_id":"0","cudnn_fmha_backend_config":{"fmha_scale":0.5,"dropout_rate":0,)" +
         numbers + R"(,"mask_type":")" + mask + R"(","sliding_window_length":)" +
         std::to_string(window) + "}}";
}

void expect_near(const Numbers& got, const Numbers& want, double tolerance) {
  ASSERT_GE(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], tolerance) << i;
}

struct Inputs4 {
  Sizes z;
  Arrays x;
  std::vector<Literal> literals() const {
    return {f32({z.b, z.t, z.n, z.h}, floats(x.q)), f32({z.b, z.s, z.g, z.h}, floats(x.k)),
            f32({z.b, z.s, z.g, z.h}, floats(x.v))};
  }
  std::string parameters() const {
    const std::string q = "f32" + dims({z.b, z.t, z.n, z.h}),
                      k = "f32" + dims({z.b, z.s, z.g, z.h});
    return " q = " + q + " parameter(0)\n k = " + k + " parameter(1)\n v = " + k +
           " parameter(2)\n";
  }
};

void expect_forward(const Inputs4& in, const std::string& more, const std::string& operands,
                    const std::string& target, const std::string& mask, int window,
                    const Seen& seen) {
  const Sizes& z = in.z;
  const std::string text = "HloModule m\nENTRY e {\n" + in.parameters() + more + " ROOT r = (f32" +
                           dims({z.b, z.n, z.t, z.h}) + "{3,1,2,0}, f32" + dims({z.b, z.n, z.t}) +
                           ", u8[0]) custom-call(q, k, v" + operands + "), custom_call_target=\"" +
                           target + "\"" + fmha_config(mask, window, false) + "\n}\n";
  const auto rows = run_well(text, {in.literals()});
  ASSERT_EQ(rows.size(), 1u);
  const Numbers want = attention(z, in.x, 0.5, seen);
  expect_near(rows[0], heads_first(want, z.b, z.t, z.n, z.h), 2e-5);
}

TEST(CudnnAttention, MasksAndBiases) {
  const Sizes z{2, 5, 5, 4, 2, 3};
  const Inputs4 in{z, arrays(z)};
  const auto all = [](int, int, int, int) { return std::optional<double>(0); };
  expect_forward(in, "", "", "__cudnn$fmhaSoftmax", "NO_MASK", 0, all);
  const auto window = [](int, int, int i, int j) {
    return j <= i && j > i - 3 ? std::optional<double>(0) : std::nullopt;
  };
  expect_forward(in, "", "", "__cudnn$fmhaSoftmax", "CAUSAL", 3, window);
  const int queries[] = {5, 2}, keys[] = {4, 3};
  const auto padded = [&](int b, int, int i, int j) {
    return i < queries[b] && j < keys[b] && j <= i ? std::optional<double>(0) : std::nullopt;
  };
  expect_forward(in, " a = s32[2] constant({5, 2})\n c = s32[2] constant({4, 3})\n", ", a, c",
                 "__cudnn$fmhaSoftmax", "PADDING_CAUSAL", 0, padded);
  const auto biased = [](int, int n, int i, int j) {
    return std::optional<double>(0.25 * n + 0.5 * i - j);
  };
  const std::string bias =
      " h = f32[1,4,5,5] iota(), iota_dimension=1\n i = f32[1,4,5,5] iota(), iota_dimension=2\n j "
      "= "
      "f32[1,4,5,5] iota(), iota_dimension=3\n c = f32[] constant(0.25)\n d = f32[] "
      "constant(0.5)\n cb = f32[1,4,5,5] broadcast(c), dimensions={}\n db = f32[1,4,5,5] "
      "broadcast(d), dimensions={}\n hc = f32[1,4,5,5] multiply(h, cb)\n id = f32[1,4,5,5] "
      "multiply(i, db)\n s = f32[1,4,5,5] add(hc, id)\n bias = f32[1,4,5,5] subtract(s, j)\n";
  expect_forward(in, bias, ", bias", "__cudnn$fmhaScaleBiasSoftmax", "NO_MASK", 0, biased);
  const auto alibi = [](int, int n, int i, int j) {  // 4 heads: 2^-2, 2^-4, 2^-6, 2^-8
    return j <= i ? std::optional<double>(std::exp2(-2.0 * (n + 1)) * (j - i)) : std::nullopt;
  };
  expect_forward(in, "", "", "__cudnn$fmhaSoftmax", "ALIBI", 0, alibi);
}

TEST(CudnnAttention, GradientsAreTheDerivatives) {
  const Sizes z{2, 3, 4, 2, 1, 2};
  Inputs4 in{z, arrays(z)};
  Numbers bias = doubles(numbers(2 * 3 * 4, 5));
  const auto seen = [&](int, int n, int i, int j) {
    return j <= i ? std::optional<double>(bias[(n * 3 + i) * 4 + j]) : std::nullopt;
  };
  const Numbers output = attention(z, in.x, 0.5, seen), g = doubles(numbers(output.size(), 9));
  const auto loss = [&] {
    const Numbers now = attention(z, in.x, 0.5, seen);
    double sum = 0;
    for (size_t i = 0; i < g.size(); ++i) sum += now[i] * g[i];
    return sum;
  };
  const std::string config = fmha_config("CAUSAL", 0, true);
  const std::string text =
      "HloModule m\nENTRY e {\n" + in.parameters() +
      " o = f32[2,3,2,2] parameter(3)\n g = f32[2,3,2,2] parameter(4)\n b = f32[1,2,3,4] "
      "parameter(5)\n f = (f32[2,2,3,2], f32[2,2,3], u8[0]) custom-call(q, k, v, b), "
      "custom_call_target=\"__cudnn$fmhaScaleBiasSoftmax\"" +
      fmha_config("CAUSAL", 0, false) +
      "\n l = f32[2,2,3] get-tuple-element(f), index=1\n ROOT r = (f32[2,2,3,2], f32[2,1,4,2], "
      "f32[2,1,4,2], f32[1,2,3,4], u8[0]) custom-call(q, k, v, l, g, b, o), "
      "custom_call_target=\"__cudnn$fmhaScaleBiasSoftmaxBackward\"" +
      config + "\n}\n";
  std::vector<Literal> inputs = in.literals();
  inputs.push_back(f32({2, 3, 2, 2}, floats(output)));
  inputs.push_back(f32({2, 3, 2, 2}, floats(g)));
  inputs.push_back(f32({1, 2, 3, 4}, floats(bias)));
  const auto rows = run_well(text, {inputs});
  ASSERT_EQ(rows.size(), 1u);
  const auto derivatives = [&](Numbers& x) {
    Numbers out;
    for (double& value : x) {
      const double saved = value;
      value = saved + 1e-4;
      const double up = loss();
      value = saved - 1e-4;
      out.push_back((up - loss()) / 2e-4);
      value = saved;
    }
    return out;
  };
  Numbers want = heads_first(derivatives(in.x.q), 2, 3, 2, 2);
  for (const Numbers& part : {heads_first(derivatives(in.x.k), 2, 4, 1, 2),
                              heads_first(derivatives(in.x.v), 2, 4, 1, 2), derivatives(bias)})
    want.insert(want.end(), part.begin(), part.end());
  expect_near(rows[0], want, 2e-4);
}

std::string engine_config(const Sizes& z, const std::string& more) {
  const auto i64 = [](const std::string& key, int value) {
    return key + " = " + std::to_string(value) + " : i64, ";
  };
  return "api_version=API_VERSION_TYPED_FFI, backend_config={" + i64("attn_heads", z.n) +
         i64("input_batch", z.b) + i64("kv_max_seqlen", z.s) + i64("num_gqa_groups", z.g) +
         i64("q_max_seqlen", z.t) + i64("qk_head_dim", z.h) + i64("v_head_dim", z.h) + more +
         "scaling_factor = 5.000000e-01 : f64, is_training = true}";
}

// [b, t, n, h] rows of the value; `lengths` and `starts` are cumulative lengths and first rows.
Numbers engine_forward(const Inputs4& in, const std::string& lengths, const std::string& starts,
                       const std::string& softmax_offset, const std::string& more) {
  const Sizes& z = in.z;
  const std::string text =
      "HloModule m\nENTRY e {\n" + in.parameters() +
      " n = f32[0] constant({})\n s = u32[2] constant({1, 2})\n p = " + softmax_offset +
      "\n a = " + lengths + "\n o = " + starts + "\n ROOT r = (f32" + dims({z.b, z.t, z.n, z.h}) +
      ", f32" + dims({z.b, z.t, z.n, 1}) +
      ", f32[0], u32[2,4], u8[8]) custom-call(q, k, v, n, p, s, a, a, o, o, n, n, n, n), "
      "custom_call_target=\"te_fused_attn_forward_ffi\", " +
      engine_config(z, more) + "\n}\n";
  const auto rows = run_well(text, {in.literals()});
  if (rows.empty()) return {};
  return {rows[0].begin(), rows[0].begin() + z.b * z.t * z.n * z.h};
}

TEST(FusedAttention, AlibiWindowsAndSinks) {
  const Sizes z{1, 6, 6, 3, 3, 2};
  const Inputs4 in{z, arrays(z)};
  const std::string lengths = "s32[2] constant({0, 6})", none = "f32[0] constant({})";
  // 3 heads: 2^-4 and 2^-8 of two, then the first of four's: 2^-2.
  const double slopes[] = {std::exp2(-4), std::exp2(-8), std::exp2(-2)};
  const auto alibi = [&](int, int n, int i, int j) {
    return j <= i ? std::optional<double>(slopes[n] * (j - i)) : std::nullopt;
  };
  expect_near(engine_forward(in, lengths, lengths, none,
                             "mask_type = 2 : i64, bias_type = 3 : i64, qkv_layout = 9 : i64, "),
              attention(z, in.x, 0.5, alibi), 2e-5);
  const auto window = [](int, int, int i, int j) {
    return j >= i - 2 && j <= i + 1 ? std::optional<double>(0) : std::nullopt;
  };
  const std::string sides = "window_size_left = 2 : i64, window_size_right = 1 : i64, ";
  expect_near(engine_forward(in, lengths, lengths, none, "mask_type = 0 : i64, " + sides),
              attention(z, in.x, 0.5, window), 2e-5);
  expect_near(
      engine_forward(in, lengths, lengths, "f32[1,3,1,1] constant({{{{0.5}},{{-1}},{{2}}}})",
                     "softmax_type = 2 : i64, " + sides),
      attention(z, in.x, 0.5, window, {0.5, -1, 2}), 2e-5);
}

// Rows 0 to 2 and 4 to 5 are sequences of their own; row 3 is none's.
TEST(FusedAttention, PackedSequencesSeeOnlyThemselves) {
  const Sizes z{1, 6, 6, 2, 1, 3};
  const Inputs4 in{z, arrays(z)};
  const int sequence[] = {0, 0, 0, -1, 1, 1};
  const auto seen = [&](int, int, int i, int j) {
    return sequence[i] >= 0 && sequence[i] == sequence[j] && j <= i ? std::optional<double>(0)
                                                                    : std::nullopt;
  };
  expect_near(engine_forward(in, "s32[4] constant({0, 3, 5, 5})", "s32[4] constant({0, 4, 6, 6})",
                             "f32[0] constant({})",
                             "mask_type = 3 : i64, qkv_layout = 14 : i64, "
                             "max_segments_per_seq = 3 : i64, "),
              attention(z, in.x, 0.5, seen), 2e-5);
}

}  // namespace
}  // namespace hilo::test

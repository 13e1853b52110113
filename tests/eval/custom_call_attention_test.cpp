// TransformerEngine's attention against its formula in doubles; gradients against differences.
#include <cmath>

#include "devices.h"

namespace hilo::test {
namespace {

struct Case {
  int b, s, t, h, g, d, mask;
  double scale;
  std::vector<int32_t> query_offsets, key_offsets;
};

std::vector<float> numbers(int64_t count, uint32_t seed) {
  std::vector<float> out(count);
  for (float& x : out) {
    seed = seed * 1664525u + 1013904223u;
    x = static_cast<float>(static_cast<int32_t>(seed >> 8) % 1000) / 500.0f - 1.0f;
  }
  return out;
}

std::string dims(std::initializer_list<int> sizes) {
  std::string out;
  for (int size : sizes) out += (out.empty() ? "" : ",") + std::to_string(size);
  return "[" + out + "]";
}

std::string config(const Case& c) {
  const auto i64 = [](const std::string& key, int value) {
    return key + " = " + std::to_string(value) + " : i64, ";
  };
  return "api_version=API_VERSION_TYPED_FFI, backend_config={" + i64("attn_heads", c.h) +
         i64("bias_batch", 0) + i64("bias_heads", 0) + i64("bias_type", 0) +
         "deterministic = false, dropout_probability = 0.000000e+00 : f64, " +
         i64("input_batch", c.b) + "is_training = true, " + i64("kv_max_seqlen", c.t) +
         i64("mask_type", c.mask) + i64("num_gqa_groups", c.g) + i64("q_max_seqlen", c.s) +
         i64("qk_head_dim", c.d) + i64("qkv_layout", 9) +
         "scaling_factor = " + std::to_string(c.scale) + " : f64, " + i64("v_head_dim", c.d) +
         "window_size_left = -1 : i64, window_size_right = -1 : i64}";
}

std::string forward_text(const Case& c) {
  const std::string q = "f32" + dims({c.b, c.s, c.h, c.d}), k = "f32" + dims({c.b, c.t, c.g, c.d});
  const std::string offsets = "s32" + dims({c.b + 1});
  return "HloModule m\nENTRY e { q = " + q + " parameter(0)\n k = " + k +
         " parameter(1)\n v = " + k +
         " parameter(2)\n n = f32[0] constant({})\n s = u32[2] constant({1, 2})\n a = " + offsets +
         " parameter(3)\n b = " + offsets + " parameter(4)\n ROOT r = (" + q + ", f32" +
         dims({c.b, c.h, c.s, 1}) +
         ", u32[2,4], u8[8]) custom-call(q, k, v, n, s, a, b, n, n, n, n, n, n), "
         "custom_call_target=\"te_fused_attn_forward_ffi\", " +
         config(c) + "\n}\n";
}

std::vector<Literal> inputs_of(const Case& c) {
  std::vector<Literal> out{f32({c.b, c.s, c.h, c.d}, numbers(c.b * c.s * c.h * c.d, 1)),
                           f32({c.b, c.t, c.g, c.d}, numbers(c.b * c.t * c.g * c.d, 2)),
                           f32({c.b, c.t, c.g, c.d}, numbers(c.b * c.t * c.g * c.d, 3))};
  out.push_back(Literal::from<int32_t>({c.b + 1}, c.query_offsets));
  out.push_back(Literal::from<int32_t>({c.b + 1}, c.key_offsets));
  return out;
}

bool sees(const Case& c, int b, int i, int j) {
  const int queries = c.query_offsets[b + 1] - c.query_offsets[b];
  const int keys = c.key_offsets[b + 1] - c.key_offsets[b];
  const bool padding = c.mask == 1 || c.mask == 3;
  if (padding && (i >= queries || j >= keys)) return false;
  return c.mask < 2 || j <= i;
}

struct Expected {
  Numbers output, sums;
};
Expected attention(const Case& c, const Numbers& q, const Numbers& k, const Numbers& v) {
  Expected out{Numbers(c.b * c.s * c.h * c.d), Numbers(c.b * c.h * c.s)};
  for (int b = 0; b < c.b; ++b)
    for (int h = 0; h < c.h; ++h)
      for (int i = 0; i < c.s; ++i) {
        const int g = h / (c.h / c.g);
        Numbers weight(c.t);
        double sum = 0;
        for (int j = 0; j < c.t; ++j) {
          double score = 0;
          for (int f = 0; f < c.d; ++f)
            score +=
                q[((b * c.s + i) * c.h + h) * c.d + f] * k[((b * c.t + j) * c.g + g) * c.d + f];
          if (sees(c, b, i, j)) sum += weight[j] = std::exp(score * c.scale);
        }
        if (sum == 0) continue;
        out.sums[(b * c.h + h) * c.s + i] = std::log(sum);
        for (int j = 0; j < c.t; ++j)
          for (int f = 0; f < c.d; ++f)
            out.output[((b * c.s + i) * c.h + h) * c.d + f] +=
                weight[j] / sum * v[((b * c.t + j) * c.g + g) * c.d + f];
      }
  return out;
}

Numbers flat(const Literal& literal) {
  Numbers out;
  flatten(literal, out);
  return out;
}

const Case cases[] = {
    {2, 5, 5, 4, 2, 3, 3, 0.5, {0, 5, 8}, {0, 5, 8}},    // causal, the second sequence is shorter
    {1, 3, 6, 2, 2, 4, 0, 1.0, {0, 3}, {0, 6}},          // no mask
    {1, 300, 300, 2, 1, 2, 2, 0.7, {0, 300}, {0, 300}},  // causal, more than one block of queries
};

TEST(FusedAttention, ForwardIsSoftmaxOfScaledScores) {
  for (const Case& c : cases) {
    const std::vector<Literal> in = inputs_of(c);
    const auto rows = run_well(forward_text(c), {in});
    ASSERT_EQ(rows.size(), 1u);
    const Expected want = attention(c, flat(in[0]), flat(in[1]), flat(in[2]));
    for (size_t i = 0; i < want.output.size(); ++i)
      ASSERT_NEAR(rows[0][i], want.output[i], 2e-5) << i;
    for (size_t i = 0; i < want.sums.size(); ++i)
      ASSERT_NEAR(rows[0][want.output.size() + i], want.sums[i], 2e-5) << i;
  }
}

TEST(FusedAttention, BackwardIsTheDerivative) {
  for (const Case& c : {cases[0], cases[1]}) {
    const std::vector<Literal> in = inputs_of(c);
    Numbers q = flat(in[0]), k = flat(in[1]), v = flat(in[2]);
    const Expected at = attention(c, q, k, v);
    const std::vector<float> gradient = numbers(static_cast<int64_t>(q.size()), 9);
    const auto loss = [&] {
      const Expected now = attention(c, q, k, v);
      double sum = 0;
      for (size_t i = 0; i < gradient.size(); ++i) sum += now.output[i] * gradient[i];
      return sum;
    };
    const std::string qs = "f32" + dims({c.b, c.s, c.h, c.d}),
                      ks = "f32" + dims({c.b, c.t, c.g, c.d});
    const std::string sums = "f32" + dims({c.b, c.h, c.s, 1}), offsets = "s32" + dims({c.b + 1});
    const std::string text =
        "HloModule m\nENTRY e { q = " + qs + " parameter(0)\n k = " + ks +
        " parameter(1)\n v = " + ks + " parameter(2)\n a = " + offsets +
        " parameter(3)\n b = " + offsets + " parameter(4)\n l = " + sums +
        " parameter(5)\n o = " + qs + " parameter(6)\n g = " + qs +
        " parameter(7)\n n = f32[0] constant({})\n z = u32[] constant(0)\n s = u32[2,4] "
        "broadcast(z), "
        "dimensions={}\n ROOT r = (" +
        qs + ", " + ks + ", " + ks +
        ", f32[0], u8[8]) custom-call(q, k, v, n, l, s, o, g, a, b, n, n, n, n, n, n), "
        "custom_call_target=\"te_fused_attn_backward_ffi\", " +
        config(c) + "\n}\n";
    std::vector<Literal> inputs = in;
    const auto as_f32 = [](const Numbers& x) { return std::vector<float>(x.begin(), x.end()); };
    inputs.push_back(f32({c.b, c.h, c.s, 1}, as_f32(at.sums)));
    inputs.push_back(f32({c.b, c.s, c.h, c.d}, as_f32(at.output)));
    inputs.push_back(f32({c.b, c.s, c.h, c.d}, gradient));
    const auto rows = run_well(text, {inputs});
    ASSERT_EQ(rows.size(), 1u);
    size_t next = 0;
    for (Numbers* array : {&q, &k, &v})
      for (double& x : *array) {
        const double saved = x, step = 1e-4;
        x = saved + step;
        const double up = loss();
        x = saved - step;
        const double down = loss();
        x = saved;
        ASSERT_NEAR(rows[0][next], (up - down) / (2 * step), 1e-4) << next;
        ++next;
      }
  }
}

TEST(FusedAttention, DropoutIsRefused) {
  std::string text = forward_text(cases[1]);
  const std::string none = "dropout_probability = 0.000000e+00";
  text.replace(text.find(none), none.size(), "dropout_probability = 1.000000e-01");
  auto rows = run(text, {inputs_of(cases[1])});
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().kind, ErrorKind::Unsupported);
}

}  // namespace
}  // namespace hilo::test

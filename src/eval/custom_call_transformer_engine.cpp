// TransformerEngine's fused attention in JAX: te_fused_attn_{forward,backward}_ffi. References:
// transformer_engine/fused_attn.h (NVTE_QKV_Layout, NVTE_Mask_Type, NVTE_Bias_Type,
// NVTE_Softmax_Type), transformer_engine/jax/cpp_extensions/attention.py.
#include <algorithm>

#include "eval/backend_config.h"
#include "eval/custom_call_attention.h"
#include "eval/storage.h"

namespace hilo {
namespace {

// Where operands stand that not every version has: newer ones have softmax offsets behind the bias.
struct Places {
  size_t lengths;  // cumulative, of queries; then of keys; then where sequences begin
  std::optional<size_t> softmax_offset;
};

Dims numbers_of(const Literal& literal) {
  Dims out;
  for (int64_t i = 0; i < literal.count(); ++i) out.push_back(literal.integer_at(i));
  return out;
}

Dims lengths_of(const Dims& cumulative, int64_t batches, int64_t most, bool padding) {
  Dims out(batches, most);
  if (padding && std::ssize(cumulative) > batches)
    for (int64_t b = 0; b < batches; ++b)
      out[b] = std::clamp<int64_t>(cumulative[b + 1] - cumulative[b], 0, most);
  return out;
}

// Layouts of [b, s, ...], [s, b, ...] or packed sequences [t, ...].
struct Rows {
  bool sequence_first;
  int64_t batches;  // of the arrays; packed sequences are more
  Dims starts;

  // Rows of `row` elements; `length` of them for each batch.
  HeadsView view(size_t literal, int64_t length, int64_t row, int64_t head, int64_t offset) const {
    return {
        literal, offset, sequence_first ? row : length * row, sequence_first ? batches * row : row,
        head,    starts};
  }
};

// Of each five layouts: 3HD, H3D, HD with 2HD, HD with H2D, and three arrays.
void set_views(Attention& a, int64_t layout, const Rows& queries, const Rows& keys) {
  const int64_t d = a.features, q = a.heads * d, k = a.groups * d;
  if (layout % 5 == 0) {
    a.query = queries.view(0, a.queries, 3 * q, d, 0);
    a.key = queries.view(0, a.queries, 3 * q, d, q);
    a.value = queries.view(0, a.queries, 3 * q, d, 2 * q);
  } else if (layout % 5 == 1) {
    a.query = queries.view(0, a.queries, 3 * q, 3 * d, 0);
    a.key = queries.view(0, a.queries, 3 * q, 3 * d, d);
    a.value = queries.view(0, a.queries, 3 * q, 3 * d, 2 * d);
  } else {
    a.query = queries.view(0, a.queries, q, d, 0);
    if (layout % 5 == 4) {
      a.key = keys.view(1, a.keys, k, d, 0);
      a.value = keys.view(2, a.keys, a.groups * a.value_features, a.value_features, 0);
    } else {
      const int64_t head = layout % 5 == 2 ? d : 2 * d;
      a.key = keys.view(1, a.keys, 2 * k, head, 0);
      a.value = keys.view(1, a.keys, 2 * k, head, layout % 5 == 2 ? k : d);
    }
  }
  a.output = queries.view(0, a.queries, a.heads * a.value_features, a.value_features, 0);
  a.gradients[0] = a.query, a.gradients[1] = a.key, a.gradients[2] = a.value;
}

void read_sizes(const BackendConfig& config, Attention& a) {
  const auto whole = [&](const char* key, int64_t otherwise) {
    return config.whole(key, otherwise);
  };
  a.batches = whole("input_batch", 0);
  a.heads = whole("attn_heads", 0);
  a.groups = whole("num_gqa_groups", a.heads);
  a.queries = whole("q_max_seqlen", 0);
  a.keys = whole("kv_max_seqlen", 0);
  a.features = whole("qk_head_dim", whole("head_dim", 0));
  a.value_features = whole("v_head_dim", a.features);
  a.scale = config.number("scaling_factor", 1);
  a.window_left = whole("window_size_left", -1);
  a.window_right = whole("window_size_right", -1);
  a.bias_batches = whole("bias_batch", 0);
  a.bias_heads = whole("bias_heads", 0);
}

Result<void> need_known(const Call& call, const BackendConfig& config) {
  struct Setting {
    const char* key;
    int64_t most, otherwise;
  };
  for (const Setting& s :
       {Setting{"qkv_layout", 14, 9}, Setting{"mask_type", 5, 0}, Setting{"bias_type", 3, 0},
        Setting{"softmax_type", 2, 0}, Setting{"return_max_logit", 0, 0}}) {
    const int64_t value = config.whole(s.key, s.otherwise);
    if (value < 0 || value > s.most)
      return call.error(ErrorKind::Unsupported, fmt::format("attention with {} {}", s.key, value));
  }
  if (config.number("dropout_probability", 0) != 0)
    return call.error(ErrorKind::Unsupported,
                      "attention with dropout: its random bits are the library's own");
  return {};
}

// softmax_type 1 adds exp(0) to every sum, 2 adds exp of a number for each head.
Result<void> set_sinks(const Call& call, const BackendConfig& config, const Places& places,
                       Attention& a) {
  const int64_t type = config.whole("softmax_type", 0);
  if (type == 0) return {};
  a.sinks.assign(a.heads, 0);
  if (type == 1) return {};
  if (!places.softmax_offset || call.operands[*places.softmax_offset].count() != a.heads)
    return call.error(ErrorKind::Shape, "expected a softmax offset for each head");
  for (int64_t h = 0; h < a.heads; ++h)
    a.sinks[h] = call.operands[*places.softmax_offset].number_at(h);
  return {};
}

Result<Attention> make_attention(const Call& call, const Places& places,
                                 std::span<const size_t> output_counts) {
  HILO_TRY(BackendConfig config, BackendConfig::parse(call));
  HILO_DO(need_known(call, config));
  Attention a;
  read_sizes(config, a);
  if (!a.has_sizes())
    return call.error(ErrorKind::Shape, "backend_config does not give the sizes of attention");
  const int64_t mask = config.whole("mask_type", 0), layout = config.whole("qkv_layout", 9);
  const bool packed = layout >= 10;
  const bool padding = mask == 1 || mask == 3 || mask == 5 || packed;
  a.causal = mask >= 2;
  a.bottom_right = mask >= 4;
  a.bias = static_cast<AttentionBias>(config.whole("bias_type", 0));
  const auto numbers = [&](size_t i) { return numbers_of(call.operands[places.lengths + i]); };
  const Dims query_lengths = numbers(0), key_lengths = numbers(1);
  Rows queries{layout < 5, a.batches, {}}, keys = queries;
  if (packed) {
    a.batches = std::ssize(query_lengths) - 1;
    queries.starts = numbers(2), keys.starts = numbers(3);
    if (a.batches < 1 ||
        std::min(queries.starts.size(), keys.starts.size()) < static_cast<size_t>(a.batches))
      return call.error(ErrorKind::Shape, "expected the rows where sequences begin");
    queries.starts.resize(a.batches), keys.starts.resize(a.batches);
  }
  set_views(a, layout, queries, keys);
  a.sums_by_row = packed;
  a.query_lengths = lengths_of(query_lengths, a.batches, a.queries, padding);
  a.key_lengths = lengths_of(key_lengths, a.batches, a.keys, padding);
  // Sequences that are not there may begin anywhere.
  for (int64_t b = 0; b < a.batches && packed; ++b)
    for (HeadsView* view :
         {&a.query, &a.key, &a.value, &a.output, &a.gradients[0], &a.gradients[1], &a.gradients[2]})
      if (a.query_lengths[b] == 0 || a.key_lengths[b] == 0) view->starts[b] = 0;
  HILO_DO(a.check(call, output_counts));
  HILO_DO(a.check_bias(call, call.operands[3]));
  HILO_DO(set_sinks(call, config, places, a));
  return a;
}

}  // namespace

// Operands: query, key, value (or packed), bias, [softmax offset], seed, cumulative lengths of
// query and key sequences, the rows where they begin, ... Results: value, logs of the softmax sums,
// [largest scores], random state, workspace.
Result<Literal> call_attention_forward(Call& call) {
  const size_t more = call.operands.size() >= 14 ? 1 : 0;
  if (call.operands.size() < 9 || !call.shape().is_tuple() || call.shape().elements.size() < 2)
    return call.error(ErrorKind::Shape, "expected at least 9 operands and 2 results");
  const Shape& stated = call.shape().elements[0];
  const size_t count = element_count(stated);
  const Places places{5 + more, more ? std::optional<size_t>(4) : std::nullopt};
  HILO_TRY(const Attention a, make_attention(call, places, std::array{count}));
  Literal out = make_zeros(call, call.held(stated));
  StepValue sums{make_zeros(call, call.held(call.shape().elements[1])), call.shape().elements[1]};
  if (sums.literal.type() != call.held(ElementType::F32))
    return call.error(ErrorKind::Shape, "expected f32 as result 1");
  AttentionSteps steps(call);
  attend(steps, a, call.operands, call.operands[3], out, sums);
  return steps.steps.finish({{std::move(out), stated}, std::move(sums)});
}

// Operands: query, key, value, bias, [softmax offset], logs of the softmax sums, random state,
// output, its gradient, cumulative lengths, rows where sequences begin, ... Results: gradients of
// query, key, value, bias, [softmax offset], workspace.
Result<Literal> call_attention_backward(Call& call) {
  const size_t more = call.operands.size() >= 17 ? 1 : 0;
  const Shape& stated = call.shape();
  if (call.operands.size() < 12 || !stated.is_tuple() || stated.elements.size() < 4 + more)
    return call.error(ErrorKind::Shape, "expected at least 12 operands and 4 results");
  const Literal &sums = call.operands[4 + more], &output = call.operands[6 + more],
                &gradient = call.operands[7 + more];
  const Places places{8 + more, more ? std::optional<size_t>(4) : std::nullopt};
  HILO_TRY(const Attention a, make_attention(call, places,
                                             std::array{static_cast<size_t>(output.count()),
                                                        static_cast<size_t>(gradient.count())}));
  if (sums.count() < a.sum_count())
    return call.error(ErrorKind::Shape, "the saved sums are fewer than expected");
  AttentionGradients gradients;
  for (size_t i = 0; i < 4; ++i) {
    if (call.operands[i].count() != element_count(stated.elements[i]))
      return call.error(ErrorKind::Shape, fmt::format("result {} has not operand {}'s size", i, i));
    gradients.results.push_back(
        make_zeros(call, call.held(with_type(stated.elements[i], ElementType::F32))));
  }
  AttentionSteps steps(call);
  attention_gradients(steps, a, call.operands,
                      {sums, output, gradient, call.operands[3], a.output, a.output}, gradients);
  std::vector<StepValue> results;
  for (size_t i = 0; i < 4; ++i)
    results.push_back(steps.steps.convert(
        {std::move(gradients.results[i]), with_type(stated.elements[i], ElementType::F32)},
        stated.elements[i].type));
  if (more && !a.sinks.empty() && element_count(stated.elements[4]) == a.heads &&
      stated.elements[4].type == ElementType::F32) {
    StepValue sinks{make_zeros(call, call.held(stated.elements[4])), stated.elements[4]};
    for (int64_t h = 0; h < a.heads; ++h) set(sinks, h, gradients.sinks[h]);
    results.push_back(std::move(sinks));
  }
  return steps.steps.finish(std::move(results));
}

}  // namespace hilo

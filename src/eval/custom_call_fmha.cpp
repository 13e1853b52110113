// cuDNN's attention as XLA calls it: __cudnn$fmha*. Layouts are told by the dimension numbers of
// the products: [b, t, n, h] has batch dimensions 0 and 2, [b, n, t, h] 0 and 1; results are
// logical [b, n, t, h]. References: xla/service/gpu/backend_configs.proto (CudnnfMHABackendConfig),
// jax/_src/cudnn/fused_attention_stablehlo.py.
#include <algorithm>

#include "eval/backend_config.h"
#include "eval/custom_call_attention.h"
#include "eval/storage.h"

namespace hilo {
namespace {

struct Fmha {
  Attention attention;
  bool padding = false, heads_first = false;
};

// Of an array [b, n, t, h], or [b, t, n, h].
HeadsView view_of(size_t literal, const Dims& dims, bool heads_first) {
  const Dims strides = row_major_strides(dims);
  const size_t head = heads_first ? 1 : 2, sequence = heads_first ? 2 : 1;
  return {literal, 0, strides[0], strides[sequence], strides[head]};
}

bool is_heads_first(const BackendConfig& config, bool backward) {
  const Dims dims =
      backward ? config.inside("bmm1_grad_gemm1_dot_dimension_numbers").dims("rhs_batch_dimensions")
               : config.inside("bmm1_dot_dimension_numbers").dims("lhs_batch_dimensions");
  return dims == Dims{0, 1};
}

Result<void> need_known(const Call& call, const BackendConfig& config, const std::string& mask) {
  if (config.number("dropout_rate", 0) != 0)
    return call.error(ErrorKind::Unsupported,
                      "attention with dropout: its random bits are the library's own");
  if (config.flag("is_paged_attention", false) || config.whole("max_seg_per_batch", 1) > 1)
    return call.error(ErrorKind::Unsupported, "attention over pages or several segments");
  for (const char* known : {"NO_MASK", "PADDING", "CAUSAL", "PADDING_CAUSAL", "ALIBI"})
    if (mask == known) return {};
  return call.error(ErrorKind::Unsupported, fmt::format("attention with mask_type {}", mask));
}

Result<Fmha> make_fmha(const Call& call, bool backward) {
  HILO_TRY(BackendConfig whole, BackendConfig::parse(call));
  const BackendConfig config = whole.inside("cudnn_fmha_backend_config");
  const std::string mask =
      config.text("mask_type", config.flag("is_causal_mask", false) ? "CAUSAL" : "NO_MASK");
  HILO_DO(need_known(call, config, mask));
  for (size_t i = 0; i < 3; ++i)
    if (call.operands[i].shape().rank() != 4)
      return call.error(ErrorKind::Shape, "query, key and value must have four dimensions");
  Fmha out;
  Attention& a = out.attention;
  out.heads_first = is_heads_first(config, backward);
  const size_t head = out.heads_first ? 1 : 2, sequence = out.heads_first ? 2 : 1;
  const Dims &q = call.operands[0].shape().dims, &k = call.operands[1].shape().dims,
             &v = call.operands[2].shape().dims;
  a.batches = q[0], a.heads = q[head], a.queries = q[sequence], a.features = q[3];
  a.groups = k[head], a.keys = k[sequence], a.value_features = v[3];
  if (k[0] != q[0] || v[0] != q[0] || k[3] != q[3] || v[head] != a.groups || v[sequence] != a.keys)
    return call.error(ErrorKind::Shape, "query, key and value do not fit each other");
  a.scale = config.number("fmha_scale", 1);
  out.padding = mask == "PADDING" || mask == "PADDING_CAUSAL";
  a.causal = mask == "CAUSAL" || mask == "PADDING_CAUSAL" || mask == "ALIBI";
  if (mask == "ALIBI") a.bias = AttentionBias::Alibi;
  // A query sees so many keys up to its own.
  const int64_t window = config.whole("sliding_window_length", 0);
  if (window > 0) a.window_left = window - 1;
  a.query = view_of(0, q, out.heads_first);
  a.key = view_of(1, k, out.heads_first);
  a.value = view_of(2, v, out.heads_first);
  a.output = view_of(0, {a.batches, a.heads, a.queries, a.value_features}, true);
  a.gradients[0] = view_of(0, {a.batches, a.heads, a.queries, a.features}, true);
  a.gradients[1] = view_of(1, {a.batches, a.groups, a.keys, a.features}, true);
  a.gradients[2] = view_of(2, {a.batches, a.groups, a.keys, a.value_features}, true);
  a.query_lengths.assign(a.batches, a.queries);
  a.key_lengths.assign(a.batches, a.keys);
  return out;
}

void set_bias(const Literal& bias, Attention& a) {
  a.bias = AttentionBias::AfterScaling;
  a.bias_batches = bias.shape().rank() == 4 ? bias.shape().dims[0] : 1;
  a.bias_heads = bias.shape().rank() == 4 ? bias.shape().dims[1] : 1;
}

// Lengths of query and key sequences from operand `first` on.
Result<void> read_lengths(const Call& call, size_t first, Attention& a) {
  for (size_t i = 0; i < 2; ++i) {
    Dims& lengths = i == 0 ? a.query_lengths : a.key_lengths;
    if (call.operands.size() <= first + i ||
        call.operands[first + i].count() != std::ssize(lengths))
      return call.error(ErrorKind::Shape, "expected a length for each sequence");
    for (size_t b = 0; b < lengths.size(); ++b)
      lengths[b] = std::clamp<int64_t>(call.operands[first + i].integer_at(b), 0, lengths[b]);
  }
  return {};
}

bool has_bias(const Call& call) {
  return call.attributes<CustomCallAttributes>().custom_call_target.find("Bias") !=
         std::string::npos;
}

}  // namespace

// Operands: query, key, value, [bias], [lengths of query and key sequences]. Results: value, [logs
// of the softmax sums [b, n, t]], workspace.
Result<Literal> call_fmha_forward(Call& call) {
  const bool bias = has_bias(call);
  const Shape& stated = call.shape();
  if (call.operands.size() < 3 + size_t{bias} || !stated.is_tuple() || stated.elements.size() < 2)
    return call.error(ErrorKind::Shape, "expected query, key, value and 2 results");
  HILO_TRY(Fmha fmha, make_fmha(call, false));
  Attention& a = fmha.attention;
  if (bias) set_bias(call.operands[3], a);
  if (fmha.padding) HILO_DO(read_lengths(call, 3 + bias, a));
  const size_t count = element_count(stated.elements[0]);
  HILO_DO(a.check(call, std::array{count}));
  const Literal none;
  HILO_DO(a.check_bias(call, bias ? call.operands[3] : none));
  Literal out = make_zeros(call, call.held(stated.elements[0]));
  StepValue sums;
  const bool has_sums = stated.elements[1].type == ElementType::F32;
  if (has_sums) sums = {make_zeros(call, call.held(stated.elements[1])), stated.elements[1]};
  AttentionSteps steps(call);
  attend(steps, a, call.operands, bias ? call.operands[3] : none, out, sums);
  std::vector<StepValue> results;
  results.push_back({std::move(out), stated.elements[0]});
  if (has_sums) results.push_back(std::move(sums));
  return steps.steps.finish(std::move(results));
}

// Operands: query, key, value, logs of the softmax sums, gradient of the value, [bias], the value,
// [lengths]. Results: gradients of query, key, value, [bias], workspace.
Result<Literal> call_fmha_backward(Call& call) {
  const bool bias = has_bias(call);
  const Shape& stated = call.shape();
  if (call.operands.size() < 6 + size_t{bias} || !stated.is_tuple() || stated.elements.size() < 3)
    return call.error(ErrorKind::Shape, "expected at least 6 operands and 3 results");
  HILO_TRY(Fmha fmha, make_fmha(call, true));
  Attention& a = fmha.attention;
  if (bias) set_bias(call.operands[5], a);
  if (fmha.padding) HILO_DO(read_lengths(call, 6 + bias, a));
  const Literal none;
  const Literal &saved_bias = bias ? call.operands[5] : none, &output = call.operands[5 + bias],
                &gradient = call.operands[4], &sums = call.operands[3];
  HILO_DO(a.check(call, std::array{static_cast<size_t>(output.count()),
                                   static_cast<size_t>(gradient.count())}));
  HILO_DO(a.check_bias(call, saved_bias));
  if (output.shape().rank() != 4 || gradient.shape().rank() != 4 || sums.count() < a.sum_count())
    return call.error(ErrorKind::Shape, "what the forward call saved is smaller than expected");
  const size_t wanted = bias && stated.elements.size() > 4 ? 4 : 3;
  const int64_t counts[] = {call.operands[0].count(), call.operands[1].count(),
                            call.operands[2].count(), saved_bias.count()};
  AttentionGradients gradients;
  for (size_t i = 0; i < wanted; ++i) {
    if (element_count(stated.elements[i]) != counts[i])
      return call.error(ErrorKind::Shape, fmt::format("result {} has another size", i));
    gradients.results.push_back(
        make_zeros(call, call.held(with_type(stated.elements[i], ElementType::F32))));
  }
  AttentionSteps steps(call);
  attention_gradients(
      steps, a, call.operands,
      {sums, output, gradient, saved_bias, view_of(0, output.shape().dims, fmha.heads_first),
       view_of(0, gradient.shape().dims, fmha.heads_first)},
      gradients);
  std::vector<StepValue> results;
  for (size_t i = 0; i < wanted; ++i)
    results.push_back(steps.steps.convert(
        {std::move(gradients.results[i]), with_type(stated.elements[i], ElementType::F32)},
        stated.elements[i].type));
  return steps.steps.finish(std::move(results));
}

}  // namespace hilo

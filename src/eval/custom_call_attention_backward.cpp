#include <cmath>

#include "eval/custom_call_attention.h"

namespace hilo {
namespace {

struct Probabilities {
  StepValue values, score_gradients;  // [count, keys]
};

// "FlashAttention-2", Dao, 2023, section 3.2, without its tiles of keys: D = rowsum(dO O);
// P = exp(S - L); dS = P (dO V^T - D). A sink's probability exp(sink - L) has no value of its own.
Probabilities find_probabilities(AttentionSteps& steps, const Attention& a,
                                 const SavedAttention& saved, const AttentionBlock& block,
                                 const StepValue& gradient, AttentionGradients& gradients) {
  const StepValue output = steps.rows(saved.output, saved.output_view, block.batch, block.head,
                                      block.first, block.count, a.value_features);
  Probabilities out{steps.scores(a, block, saved.bias), steps.dot(gradient, 1, block.value, 1)};
  if (steps.steps.failed()) return out;
  for (int64_t r = 0; r < block.count; ++r) {
    const auto [begin, end] = a.range(block.batch, block.first + r);
    const double log_sum =
        saved.sums.number_at(a.sum_position(block.batch, block.head, block.first + r));
    double own = 0;
    for (int64_t i = r * a.value_features; i < (r + 1) * a.value_features; ++i)
      own += get(gradient, i) * get(output, i);
    if (!a.sinks.empty() && begin < end)
      gradients.sinks[block.head] -= std::exp(a.sinks[block.head] - log_sum) * own;
    for (int64_t k = 0; k < block.keys; ++k) {
      const int64_t i = r * block.keys + k;
      const double p = k >= begin && k < end ? std::exp(get(out.values, i) - log_sum) : 0;
      set(out.values, i, p);
      set(out.score_gradients, i, p * (get(out.score_gradients, i) - own));
    }
  }
  return out;
}

void add_bias_gradient(const Attention& a, const AttentionBlock& block, const StepValue& scores,
                       Literal& to) {
  const double factor = a.bias == AttentionBias::BeforeScaling ? a.scale : 1;
  StepValue bias{std::move(to), {}};
  for (int64_t i = 0; i < block.count * block.keys; ++i) {
    const int64_t at =
        bias_position(a, block.batch, block.head, block.first + i / block.keys) + i % block.keys;
    set(bias, at, get(bias, at) + get(scores, i) * factor);
  }
  to = std::move(bias.literal);
}

// dV = P^T dO; dQ = scale dS K; dK = scale dS^T Q.
void add_gradients(AttentionSteps& steps, const Attention& a, const SavedAttention& saved,
                   const AttentionBlock& block, AttentionGradients& gradients) {
  const StepValue gradient = steps.rows(saved.gradient, saved.gradient_view, block.batch,
                                        block.head, block.first, block.count, a.value_features);
  Probabilities p = find_probabilities(steps, a, saved, block, gradient, gradients);
  if (steps.steps.failed()) return;
  const bool wanted = a.has_bias_array() && gradients.results.size() > 3;
  if (wanted) add_bias_gradient(a, block, p.score_gradients, gradients.results[3]);
  for (int64_t i = 0; i < block.count * block.keys; ++i)
    set(p.score_gradients, i, get(p.score_gradients, i) * a.scale);
  const auto add = [&](StepValue rows, const HeadsView& view, int64_t head, int64_t at) {
    if (!steps.steps.failed())
      steps.add_rows(rows, gradients.results[view.literal], view, block.batch, head, at);
  };
  add(steps.dot(p.values, 0, gradient, 0), a.gradients[2], block.group, 0);
  add(steps.dot(p.score_gradients, 0, block.query, 0), a.gradients[1], block.group, 0);
  add(steps.dot(p.score_gradients, 1, block.key, 0), a.gradients[0], block.head, block.first);
}

}  // namespace

void attention_gradients(AttentionSteps& steps, const Attention& a,
                         std::span<const Literal> operands, const SavedAttention& saved,
                         AttentionGradients& gradients) {
  gradients.sinks.resize(a.sinks.size());
  for_each_block(steps, a, operands, [&](const AttentionBlock& block) {
    add_gradients(steps, a, saved, block, gradients);
  });
}

}  // namespace hilo

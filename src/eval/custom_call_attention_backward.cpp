#include <cmath>

#include "eval/custom_call_attention.h"

namespace hilo {
namespace {

struct Gradients {
  std::vector<Literal> results;  // query, key, value (or packed), bias, in compute type
};

struct Saved {
  const Literal &sums, &output, &gradient, &bias;
};

// One block of queries of a head: "FlashAttention-2", Dao, 2023, section 3.2, without its tiles of
// keys. D = rowsum(dO O); P = exp(S - L); dV = P^T dO; dS = P (dO V^T - D).
void block_gradients(AttentionSteps& steps, const Attention& a, const Saved& saved,
                     const AttentionBlock& block, Gradients& gradients) {
  const auto [b, h, group, first, count, query, key, value] = block;
  const StepValue gradient =
      steps.rows(saved.gradient, a.output(), b, h, first, count, a.value_features);
  const StepValue output =
      steps.rows(saved.output, a.output(), b, h, first, count, a.value_features);
  StepValue probabilities = steps.scores(a, block, saved.bias);
  StepValue score_gradient = steps.dot(gradient, 1, value, 1);
  if (steps.steps.failed()) return;
  for (int64_t r = 0; r < count; ++r) {
    const auto [begin, end] = a.range(b, first + r);
    const double log_sum = saved.sums.number_at((b * a.heads + h) * a.queries + first + r);
    double own = 0;
    for (int64_t f = 0; f < a.value_features; ++f)
      own += get(gradient, r * a.value_features + f) * get(output, r * a.value_features + f);
    for (int64_t k = 0; k < a.keys; ++k) {
      const int64_t i = r * a.keys + k;
      const double p = k >= begin && k < end ? std::exp(get(probabilities, i) - log_sum) : 0;
      set(probabilities, i, p);
      set(score_gradient, i, p * (get(score_gradient, i) - own) * a.scale);
    }
  }
  const auto add = [&](StepValue rows, const HeadsView& view, int64_t head, int64_t at) {
    if (!steps.steps.failed())
      steps.add_rows(rows, gradients.results[view.literal], view, b, head, at);
  };
  add(steps.dot(probabilities, 0, gradient, 0), a.value, group, 0);
  add(steps.dot(score_gradient, 0, query, 0), a.key, group, 0);
  add(steps.dot(score_gradient, 1, key, 0), a.query, h, first);
  if (a.bias_type == 0) return;
  const double factor = a.bias_type == 2 ? 1 / a.scale : 1;
  StepValue bias{std::move(gradients.results[3]), {}};
  for (int64_t i = 0; i < count * a.keys; ++i) {
    const int64_t at = bias_position(a, b, h, first + i / a.keys) + i % a.keys;
    set(bias, at, get(bias, at) + get(score_gradient, i) * factor);
  }
  gradients.results[3] = std::move(bias.literal);
}

}  // namespace

// Operands: query, key, value, bias, log of the softmax sums, random state, output, its gradient,
// offsets of query and key sequences, ... Results: gradients of the first four, workspace.
Result<Literal> call_attention_backward(Call& call) {
  const Shape& stated = call.shape();
  if (call.operands.size() < 10 || !stated.is_tuple() || stated.elements.size() < 4)
    return call.error(ErrorKind::Shape, "expected at least 10 operands and 4 results");
  HILO_TRY(Attention a, Attention::make(call, call.operands[8], call.operands[9]));
  const Saved saved{call.operands[4], call.operands[6], call.operands[7], call.operands[3]};
  const int64_t rows = a.batches * a.queries * a.heads;
  Gradients gradients;
  for (size_t i = 0; i < 4; ++i) {
    if (call.operands[i].count() != element_count(stated.elements[i]))
      return call.error(ErrorKind::Shape, fmt::format("result {} has not operand {}'s size", i, i));
    gradients.results.push_back(
        Literal::zeros(call.held(with_type(stated.elements[i], ElementType::F32))));
  }
  if (saved.sums.count() < rows || saved.output.count() < rows * a.value_features ||
      saved.gradient.count() < rows * a.value_features ||
      (a.bias_type != 0 &&
       saved.bias.count() < bias_position(a, a.batches - 1, a.heads - 1, a.queries)))
    return call.error(ErrorKind::Shape, "what the forward call saved is smaller than expected");
  AttentionSteps steps(call);
  for_each_block(steps, a, call.operands, [&](const AttentionBlock& block) {
    block_gradients(steps, a, saved, block, gradients);
  });
  std::vector<StepValue> results;
  for (size_t i = 0; i < 4; ++i)
    results.push_back(steps.steps.convert(
        {std::move(gradients.results[i]), with_type(stated.elements[i], ElementType::F32)},
        stated.elements[i].type));
  return steps.steps.finish(std::move(results));
}

}  // namespace hilo

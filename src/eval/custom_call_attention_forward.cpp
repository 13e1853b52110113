#include <cmath>

#include "eval/custom_call_attention.h"

namespace hilo {
namespace {

// Turns scores into probabilities; gives the logs of the sums.
std::vector<double> softmax(const Attention& a, const AttentionBlock& block, StepValue& scores) {
  std::vector<double> sums(block.count);
  for (int64_t r = 0; r < block.count; ++r) {
    const auto [begin, end] = a.range(block.batch, block.first + r);
    const double sink = a.sinks.empty() ? -INFINITY : a.sinks[block.head];
    const int64_t row = r * block.keys;
    double largest = sink;
    for (int64_t k = begin; k < end; ++k) largest = std::max(largest, get(scores, row + k));
    double sum = a.sinks.empty() ? 0 : std::exp(sink - largest);
    for (int64_t k = begin; k < end; ++k) sum += std::exp(get(scores, row + k) - largest);
    for (int64_t k = 0; k < block.keys; ++k) {
      const bool seen = k >= begin && k < end;
      set(scores, row + k, seen ? std::exp(get(scores, row + k) - largest) / sum : 0);
    }
    sums[r] = begin < end ? largest + std::log(sum) : 0;
  }
  return sums;
}

}  // namespace

void attend(AttentionSteps& steps, const Attention& a, std::span<const Literal> operands,
            const Literal& bias, Literal& out, StepValue& sums) {
  const bool has_sums = sums.literal.has_value() && sums.literal.count() >= a.sum_count();
  for_each_block(steps, a, operands, [&](const AttentionBlock& block) {
    StepValue scores = steps.scores(a, block, bias);
    if (steps.steps.failed()) return;
    const std::vector<double> logs = softmax(a, block, scores);
    const StepValue rows = steps.dot(scores, 1, block.value, 0);
    if (steps.steps.failed()) return;
    steps.add_rows(rows, out, a.output, block.batch, block.head, block.first);
    for (int64_t r = 0; r < block.count && has_sums; ++r)
      set(sums, a.sum_position(block.batch, block.head, block.first + r), logs[r]);
  });
}

}  // namespace hilo

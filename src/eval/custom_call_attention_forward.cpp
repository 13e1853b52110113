#include <cmath>

#include "eval/custom_call_attention.h"

namespace hilo {
namespace {

// Turns scores into probabilities; the log of the sums goes to `sums`, where there is room.
void softmax(const Attention& a, StepValue& scores, int64_t batch, int64_t first,
             std::vector<double>& sums) {
  const int64_t count = scores.shape.dims[0];
  for (int64_t r = 0; r < count; ++r) {
    const auto [begin, end] = a.range(batch, first + r);
    double largest = -INFINITY, sum = 0;
    const int64_t row = r * a.keys;
    for (int64_t k = begin; k < end; ++k) largest = std::max(largest, get(scores, row + k));
    for (int64_t k = begin; k < end; ++k) sum += std::exp(get(scores, row + k) - largest);
    for (int64_t k = 0; k < a.keys; ++k) {
      const bool seen = k >= begin && k < end;
      set(scores, row + k, seen ? std::exp(get(scores, row + k) - largest) / sum : 0);
    }
    sums[r] = begin < end ? largest + std::log(sum) : 0;
  }
}

}  // namespace

// Operands: query, key, value (or packed), bias, seed, offsets of query and key sequences, ...
// Results: value, log of the softmax sums [b, h, s, 1], random state, workspace. Padded queries
// give zeros.
Result<Literal> call_attention_forward(Call& call) {
  if (call.operands.size() < 7 || !call.shape().is_tuple() || call.shape().elements.size() < 2)
    return call.error(ErrorKind::Shape, "expected at least 7 operands and 2 results");
  HILO_TRY(Attention a, Attention::make(call, call.operands[5], call.operands[6]));
  const Literal& bias = call.operands[3];
  if (a.bias_type != 0 && bias.count() < bias_position(a, a.batches - 1, a.heads - 1, a.queries))
    return call.error(ErrorKind::Shape, "the bias is smaller than backend_config says");
  Literal out = Literal::zeros(call.held(call.shape().elements[0]));
  Literal sums = Literal::zeros(call.held(call.shape().elements[1]));
  if (out.count() != a.batches * a.queries * a.heads * a.value_features)
    return call.error(ErrorKind::Shape, "result 0 has not the size of the query");
  if (sums.type() != call.held(ElementType::F32))
    return call.error(ErrorKind::Shape, "expected f32 as result 1");
  const bool has_sums = sums.count() == a.batches * a.heads * a.queries;
  AttentionSteps steps(call);
  StepValue view{std::move(sums), call.shape().elements[1]};
  for_each_block(steps, a, call.operands, [&](const AttentionBlock& block) {
    StepValue scores = steps.scores(a, block, bias);
    if (steps.steps.failed()) return;
    std::vector<double> logs(block.count);
    softmax(a, scores, block.batch, block.first, logs);
    const StepValue rows = steps.dot(scores, 1, block.value, 0);
    if (steps.steps.failed()) return;
    steps.add_rows(rows, out, a.output(), block.batch, block.head, block.first);
    for (int64_t r = 0; r < block.count && has_sums; ++r)
      set(view, (block.batch * a.heads + block.head) * a.queries + block.first + r, logs[r]);
  });
  return steps.steps.finish({{std::move(out), call.shape().elements[0]}, std::move(view)});
}

}  // namespace hilo

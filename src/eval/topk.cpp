// topk: the k largest (or smallest) of the last dimension and their places, floats in total order,
// the lower place first among equals.
#include "eval/topk.h"

#include "eval/convert.h"
#include "eval/reference/reference.h"

namespace hilo {

Routine topk_routine(const Shape& operand, const TopKAttributes& a) {
  if (operand.rank() < 1 || a.k > operand.dims.back()) return {};
  const int64_t n = operand.dims.back(), lines = n ? element_count(operand) / n : 0;
  if (!is_integral(operand.type) && !is_floating(operand.type)) return {};
  if (is_floating(operand.type) && bits_of(operand.type) < 16) return {};
  return [top = PreparedTopK(a.k, a.largest, operand.type, operand.type, n), lines](
             auto operands, auto results, const Parallel& parallel) {
    top.run(lines, operands[0], operands[0], results[0], results[1], parallel);
  };
}

Routine routine_TopK(const RoutineCall& call) {
  return topk_routine(call.operand(0), call.attributes<TopKAttributes>());
}

Result<Literal> evaluate_TopK(Call& call) {
  const auto& a = call.attributes<TopKAttributes>();
  const Literal& operand = call.operands[0];
  const int64_t n = operand.shape().dims.back(), lines = n ? operand.count() / n : 0;
  if (!is_integral(operand.type()) && !is_floating(operand.type()))
    return call.error(ErrorKind::Unsupported, "topk of " + std::string(text_of(operand.type())));
  if (a.k > n) return call.error(ErrorKind::Shape, "topk: k is larger than the last dimension");
  Literal out = call.make();
  std::vector<Literal>& results = out.mutable_elements();
  if (call.is_reference()) {
    reference::top_k(operand, a, results[0], results[1]);
    return out;
  }
  // Floats narrower than those that have sort keys are ordered as f32, which holds them all.
  const bool narrow = is_floating(operand.type()) && bits_of(operand.type()) < 16;
  const Literal keyed = narrow ? converted(call, operand, ElementType::F32) : operand;
  PreparedTopK(a.k, a.largest, operand.type(), keyed.type(), n)
      .run(lines, operand.raw().data(), keyed.raw().data(), results[0].mutable_raw().data(),
           results[1].mutable_raw().data(), call.in_chunks());
  return out;
}

}  // namespace hilo

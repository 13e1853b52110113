#include "eval/convert.h"

namespace hilo {

// Layouts do not change values; in TPU modules a copy may round to another floating type.
Result<Literal> evaluate_Copy(Call& call) {
  if (!call.shape().is_array()) return std::move(call.operands[0]);
  const Literal operand = converted(call, call.operands[0], call.result_shape()->type);
  Literal out = operand.with_shape(call.result_shape());
  for (int64_t i = 0; i < out.shape().rank(); ++i) out.set_size(i, call.operands[0].size(i));
  return out;
}

}  // namespace hilo

#include "eval/call.h"

namespace hilo {

// Layouts do not change values.
Result<Literal> evaluate_Copy(Call& call) {
  if (!call.shape().is_array()) return std::move(call.operands[0]);
  HILO_TRY(Literal out, call.with_shape(call.operands[0], call.result_shape()));
  for (int64_t i = 0; i < out.shape().rank(); ++i) out.set_size(i, call.operands[0].size(i));
  return out;
}

}  // namespace hilo

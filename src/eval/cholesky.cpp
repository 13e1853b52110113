// cholesky: A = L L* (lower) or U* U from the triangle that is named; the other triangle of the
// result is zero. A matrix that is not positive definite gives NaNs.
#include "eval/reference/reference.h"
#include "eval/routine.h"

namespace hilo {

Routine routine_Cholesky(const RoutineCall& call) {
  const bool lower = call.attributes<CholeskyAttributes>().lower;
  return [shape = call.result(), lower](auto operands, auto results, const Parallel& parallel) {
    cholesky(shape, lower, operands[0], results[0], parallel);
  };
}

Result<Literal> evaluate_Cholesky(Call& call) {
  Literal out = call.make();
  const bool lower = call.attributes<CholeskyAttributes>().lower;
  if (call.is_reference()) reference::cholesky(call.operands[0], lower, out);
  else
    cholesky(out.shape(), lower, call.operands[0].raw().data(), out.mutable_raw().data(),
             call.in_chunks());
  return out;
}

}  // namespace hilo

// logistic as an exponential.
//   logistic(x) => 1 / (1 + exp(-x))
// Assumes nothing. Later passes may assume that no logistic is left. Where a back end has no
// function of that name.
#include "pass/expand/formula.h"

namespace hilo {
namespace {

Term expand_logistic(Formula& f) {
  const Term x = f.operand(0);
  return 1.0 / (f.apply(Op::Exponential, -x) + 1.0);
}

}  // namespace

Result<bool> expand_logistics(Module& module, const PassOptions&) {
  Editor editor(module);
  return expand(editor, Op::Logistic, expand_logistic);
}

}  // namespace hilo

#include "eval/call.h"

namespace hilo {

// A pred chooses true or false; an s32 out of range chooses the last branch.
Result<Literal> evaluate_Conditional(Call& call) {
  const ConditionalAttributes& attributes = call.attributes<ConditionalAttributes>();
  std::vector<ComputationId> branches = attributes.branch_computations;
  const Literal& chooser = call.operands[0];
  if (!chooser.shape().is_scalar())
    return call.error(ErrorKind::Shape, "a conditional is chosen by a scalar");
  int64_t branch = chooser.integer_at(0);
  if (chooser.type() == ElementType::Pred) {
    if (branches.empty()) branches = {attributes.true_computation, attributes.false_computation};
    branch = branch ? 0 : 1;
  }
  if (branches.empty() || call.operands.size() != branches.size() + 1)
    return call.error(ErrorKind::Shape, "one operand is needed for each branch");
  if (branch < 0 || branch >= static_cast<int64_t>(branches.size())) branch = branches.size() - 1;
  std::vector<Literal> arguments;
  arguments.push_back(std::move(call.operands[branch + 1]));
  return call.apply(branches[branch], std::move(arguments));
}

}  // namespace hilo

// Takes the branch of a conditional that is known to be taken, and parts with branches that are
// all the same.
//   conditional(constant i, x…) => the body of branch i with x_i
//   conditional(p, x, x) whose branches are one computation => its body with x
// Assumes nothing. Later passes may assume that a conditional's predicate is not constant. After
// constant folding, which makes it one.
#include <algorithm>

#include "pass/pass.h"

namespace hilo {
namespace {

std::vector<ComputationId> branches_of(const Module& module, InstructionId id) {
  const auto& attributes = module.attributes<ConditionalAttributes>(id);
  if (!attributes.branch_computations.empty()) return attributes.branch_computations;
  return {attributes.true_computation, attributes.false_computation};
}

// A number below 0 or too large takes the last branch; of a pred, true takes the first.
std::optional<size_t> taken_branch(const Module& module, InstructionId id, size_t branches) {
  const Literal* predicate = constant_of(module, module.operand(id, 0));
  if (predicate && predicate->shape().is_scalar()) {
    const int64_t number = predicate->integer_at(0);
    if (predicate->type() == ElementType::Pred) return number ? 0 : 1;
    return number < 0 || number >= static_cast<int64_t>(branches) ? branches - 1
                                                                  : static_cast<size_t>(number);
  }
  const auto callees = branches_of(module, id);
  const auto arguments = module.operands(id).subspan(1);
  for (size_t i = 1; i < branches; ++i)
    if (callees[i] != callees[0] || arguments[i] != arguments[0]) return std::nullopt;
  return 0;
}

}  // namespace

Result<bool> simplify_conditionals(Module& module, const PassOptions&) {
  Editor editor(module);
  bool changed = false;
  for (ComputationId computation : open_computations(module))
    for (InstructionId id : operands_first(module, computation)) {
      if (module[id].op != Op::Conditional || module[id].removed || editor.is_pinned(id)) continue;
      const std::vector<ComputationId> branches = branches_of(module, id);
      const auto taken = taken_branch(module, id, branches.size());
      if (!taken || *taken >= branches.size()) continue;
      const ComputationId branch = branches[*taken];
      if (!same_with_layout(module.shape(module[branch].root), module.shape(id))) continue;
      const InstructionId argument = module.operand(id, 1 + *taken);
      const InstructionId result = editor.clone_body(branch, computation, std::array{argument});
      editor.replace_moved(id, result);
      changed = true;
    }
  return changed;
}

}  // namespace hilo

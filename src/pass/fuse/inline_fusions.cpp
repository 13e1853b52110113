// Puts the instructions of fusions where the fusions stood.
//   fusion(x), calls=f => the body of f with x for its parameter
//     for a body with a product, a convolution, a collective, a custom call or a fusion in it, or
//     with nothing elementwise
// Assumes nothing; what is pinned stays, so that the order of effects is fixed after this. Later
// passes may assume that what is left is loops. A module that was compiled for another chip has
// fusions that suit its units: here a product is a step of its own, rules see through moves of its
// operands, and what stands around it goes into other loops.
#include "pass/pass.h"

namespace hilo {
namespace {

bool has_controlled_parameter(const Editor& editor, ComputationId callee) {
  for (InstructionId parameter : editor.module()[callee].parameters)
    if (editor.is_pinned(parameter)) return true;
  return false;
}

bool is_own_step(Op op) {
  return op == Op::Dot || op == Op::Convolution || op == Op::Fusion || op == Op::CustomCall ||
         is_communication(op);
}

bool should_open(const Module& module, ComputationId body) {
  bool has_elementwise = false;
  for (InstructionId id : module[body].instructions) {
    const Op op = module[id].op;
    if (is_own_step(op)) return true;
    has_elementwise = has_elementwise || is_elementwise(op);
  }
  return !has_elementwise;
}

}  // namespace

Result<bool> inline_fusions(Module& module, const PassOptions&) {
  Editor editor(module);
  bool changed = false;
  // Those that a body brings stand behind, and are opened in turn.
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    const InstructionId id = {static_cast<uint32_t>(i)};
    if (module[id].removed || module[id].op != Op::Fusion || editor.is_pinned(id)) continue;
    const ComputationId callee = module.attributes<FusionAttributes>(id).calls;
    if (!should_open(module, callee) || has_controlled_parameter(editor, callee)) continue;
    const auto operands = module.operands(id);
    const std::vector<InstructionId> arguments(operands.begin(), operands.end());
    const InstructionId root = editor.clone_body(callee, module[id].computation, arguments);
    editor.replace_moved(id, root);
    changed = true;
  }
  return changed;
}

}  // namespace hilo

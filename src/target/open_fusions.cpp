// Puts the instructions of fusions where the fusions stood.
//   fusion(x), calls=f => the body of f with x for its parameter
// Assumes nothing. Later passes may assume that no fusion is left. A module that was compiled for
// another chip has fusions that suit its units; rules see through none, and this machine's own
// loops are found after them.
#include "target/open_fusions.h"

namespace hilo {
namespace {

bool has_controlled_parameter(const Editor& editor, ComputationId callee) {
  for (InstructionId parameter : editor.module()[callee].parameters)
    if (editor.is_pinned(parameter)) return true;
  return false;
}

}  // namespace

Result<bool> open_fusions(Module& module, const PassOptions&) {
  Editor editor(module);
  bool changed = false;
  // Those that a body brings stand behind, and are opened in turn.
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    const InstructionId id = {static_cast<uint32_t>(i)};
    if (module[id].removed || module[id].op != Op::Fusion || editor.is_pinned(id)) continue;
    const ComputationId callee = module.attributes<FusionAttributes>(id).calls;
    if (has_controlled_parameter(editor, callee)) continue;
    const auto operands = module.operands(id);
    const std::vector<InstructionId> arguments(operands.begin(), operands.end());
    const InstructionId root = editor.clone_body(callee, module[id].computation, arguments);
    editor.replace_moved(id, root);
    changed = true;
  }
  return changed;
}

}  // namespace hilo

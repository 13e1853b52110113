// Copies that moved values to another layout or memory have nothing to do where there is only one.
//   copy(x) => x
// Assumes plain layouts. What must lie twice is found out at the end (copy-insertion). Results of
// computations stay: the body of a fusion makes something. The rule copy-same would spare the
// copies of a module that has a schedule, which this target does not keep.
#include "target/needless_copies.h"

namespace hilo {

Result<bool> remove_copies(Module& module, const PassOptions&) {
  Editor editor(module);
  bool changed = false;
  for (size_t i = 0, count = module.instructions.size(); i < count; ++i) {
    const InstructionId id = {static_cast<uint32_t>(i)};
    const Instruction& instruction = module[id];
    if (instruction.removed || instruction.op != Op::Copy) continue;
    if (module[instruction.computation].root == id) continue;
    const InstructionId value = module.operand(id, 0);
    if (!editor.can_replace(id, value)) continue;
    editor.replace(id, value);
    changed = true;
  }
  return changed;
}

}  // namespace hilo

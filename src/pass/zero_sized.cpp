// Arrays without elements become constants, whatever made them.
//   f32[0,4] op(…) => f32[0,4] constant
// Assumes nothing. Later passes may assume that only parameters, constants and what has effects
// make arrays without elements. Early, because many ops on nothing are corner cases elsewhere.
#include "pass/pass.h"

namespace hilo {

Result<bool> remove_zero_sized(Module& module, const PassOptions&) {
  Editor editor(module);
  bool changed = false;
  for (ComputationId computation : open_computations(module))
    for (InstructionId id : operands_first(module, computation)) {
      const Instruction& instruction = module[id];
      const Shape shape = module.shape(id);
      if (instruction.removed || !shape.is_array() || !is_static(shape) ||
          element_count(shape) != 0 || instruction.op == Op::Constant ||
          instruction.op == Op::Parameter || is_communication(instruction.op) ||
          editor.effects().has(id) || editor.is_pinned(id))
        continue;
      const InstructionId constant = editor.add_constant(id, Literal::zeros(shape));
      if (!editor.can_replace(id, constant)) {
        editor.remove_unused(constant);
        continue;
      }
      editor.replace(id, constant);
      changed = true;
    }
  return changed;
}

}  // namespace hilo

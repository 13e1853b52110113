#include "target/fused_computations.h"

namespace hilo {

std::vector<bool> fused_computations(const Module& module) {
  std::vector<bool> out(module.computations.size());
  for (const Instruction& instruction : module.instructions)
    if (!instruction.removed && instruction.op == Op::Fusion)
      out[module.attributes<FusionAttributes>(instruction).calls.value] = true;
  return out;
}

InstructionId replace_by_fusion(Editor& editor, InstructionId id, ComputationId body,
                                std::span<const InstructionId> operands) {
  const Shape shape = editor.module().shape(id);
  const InstructionId out =
      editor.add(id, Op::Fusion, shape, operands, FusionAttributes{FusionKind::Loop, {}, body});
  editor.replace(id, out);
  return out;
}

}  // namespace hilo

#include "pass/fuse/fused_computations.h"

namespace hilo {

std::vector<bool> fused_computations(const Module& module) {
  std::vector<bool> out(module.computations.size());
  for (const Instruction& instruction : module.instructions)
    if (!instruction.removed && instruction.op == Op::Fusion)
      out[module.attributes<FusionAttributes>(instruction).calls.value] = true;
  return out;
}

bool change_unfused(Module& module, const std::function<bool(InstructionId)>& change) {
  const std::vector<bool> fused = fused_computations(module);
  bool changed = false;
  for (size_t i = 0, count = module.instructions.size(); i < count; ++i) {
    const InstructionId id = {static_cast<uint32_t>(i)};
    if (!module[id].removed && !fused[module[id].computation.value]) changed |= change(id);
  }
  return changed;
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

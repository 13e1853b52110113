#include "target/share_reshapes.h"

#include <unordered_set>

namespace hilo {

Result<bool> share_reshapes(Module& module, const PassOptions&) {
  std::unordered_set<uint32_t> fused;
  for (const Instruction& instruction : module.instructions)
    if (!instruction.removed && instruction.op == Op::Fusion)
      for (ComputationId callee : module.called(instruction)) fused.insert(callee.value);
  bool changed = false;
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    const InstructionId id = {static_cast<uint32_t>(i)};
    Instruction& instruction = module[id];
    if (instruction.removed || instruction.op != Op::Reshape) continue;
    if (fused.contains(instruction.computation.value)) continue;
    instruction.op = Op::Bitcast;
    instruction.attributes = module.add_attributes(NoneAttributes{});
    changed = true;
  }
  return changed;
}

}  // namespace hilo

// A reshape outside of fusions moves nothing: it is the same bytes under another shape, which is
// what bitcast says and what the plan gives one place.
#include "pass/pass.h"

#include "pass/fuse/fused_computations.h"

namespace hilo {

Result<bool> share_reshapes(Module& module, const PassOptions&) {
  const std::vector<bool> fused = fused_computations(module);
  bool changed = false;
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    const InstructionId id = {static_cast<uint32_t>(i)};
    Instruction& instruction = module[id];
    if (instruction.removed || instruction.op != Op::Reshape) continue;
    if (fused[instruction.computation.value]) continue;
    // What is there moves together in a reshape, not in a bitcast.
    if (module.shape(module.operand(id, 0)).has_dynamic_dims()) continue;
    instruction.op = Op::Bitcast;
    instruction.attributes = module.add_attributes(NoneAttributes{});
    changed = true;
  }
  return changed;
}

}  // namespace hilo

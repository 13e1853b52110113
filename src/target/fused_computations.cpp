#include "target/fused_computations.h"

namespace hilo {

std::vector<bool> fused_computations(const Module& module) {
  std::vector<bool> out(module.computations.size());
  for (const Instruction& instruction : module.instructions)
    if (!instruction.removed && instruction.op == Op::Fusion)
      out[module.attributes<FusionAttributes>(instruction).calls.value] = true;
  return out;
}

}  // namespace hilo

// What devices do together, and other effects, stay in the order of the module, by control
// dependences. Where tokens leave the order of a send and of a recv-done open, another order would
// wait for ever.
#include "pass/pass.h"

namespace hilo {

Result<bool> order_side_effects(Module& module, const PassOptions&) {
  bool changed = false;
  const Effects effects(module);
  for (size_t i = 0; i < module.computations.size(); ++i) {
    InstructionId last;
    for (InstructionId id : operands_first(module, {static_cast<uint32_t>(i)})) {
      if (!is_communication(module[id].op) && !effects.has(id)) continue;
      if (last) {
        module.mutable_extra(id).control_predecessors.push_back(last);
        changed = true;
      }
      last = id;
    }
  }
  return changed;
}

}  // namespace hilo

// Forgets what another back end wrote of the memory of its fusions ("aliasing_operands" in a
// backend config): its loops may write over an operand where those made here still read it, and
// nobody has checked that it is so even there. The plan believes what declare-in-place writes,
// which is proved. Assumes nothing; first of all, so that nothing else is ever seen. The configs of
// custom calls say what they compute, and stay.
#include "pass/pass.h"

namespace hilo {

Result<bool> forget_stated_aliasing(Module& module, const PassOptions&) {
  bool changed = false;
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    const InstructionId id = {static_cast<uint32_t>(i)};
    if (module[id].removed || module[id].op == Op::CustomCall ||
        !module.extra(module[id]).backend_config.contains("aliasing_operands"))
      continue;
    Extra& extra = module.mutable_extra(id);
    extra.backend_config = {};
    extra.backend_config_is_json = false;
    changed = true;
  }
  return changed;
}

}  // namespace hilo

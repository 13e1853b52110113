// Removes instructions whose values nothing needs, and computations that nothing calls.
//   v = op(…), no users => (nothing)
// Assumes nothing. Later passes may assume that every value but parameters, results and effects has
// a user. First, because dead users hide that a value has one use, and after each round of
// simplification, which leaves its left sides behind.
#include <algorithm>

#include "pass/pass.h"

namespace hilo {

Result<bool> remove_dead(Module& module, const PassOptions&) {
  bool changed = false;
  {
    Editor editor(module);
    for (ComputationId id : open_computations(module)) {
      const std::vector<InstructionId> order = operands_first(module, id);
      for (size_t i = order.size(); i-- > 0;)
        if (!module[order[i]].removed && editor.is_unused(order[i])) {
          editor.remove_unused(order[i]);
          changed = true;
        }
    }
  }
  if (changed) module.compact();
  return remove_unreachable(module) || changed;
}

}  // namespace hilo

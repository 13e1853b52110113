// Removes instructions whose values nothing needs, and computations that nothing calls.
//   v = op(…), no users => (nothing)
// Assumes nothing. Later passes may assume that every value but parameters, results and effects has
// a user. First, because dead users hide that a value has one use, and after each round of
// simplification, which leaves its left sides behind.
#include <algorithm>

#include "pass/pass.h"

namespace hilo {
namespace {

// Whether anything but parameters and results has no user.
bool has_unread(const Module& module, std::span<const ComputationId> computations) {
  return std::ranges::any_of(computations, [&](ComputationId computation) {
    return std::ranges::any_of(module[computation].instructions, [&](InstructionId id) {
      return !module[id].removed && !module.has_users(id) && module[id].op != Op::Parameter &&
             module[computation].root != id;
    });
  });
}

}  // namespace

Result<bool> remove_dead(Module& module, const PassOptions&) {
  bool changed = false;
  const std::vector<ComputationId> computations = open_computations(module);
  if (has_unread(module, computations)) {
    Editor editor(module);
    for (ComputationId id : computations) {
      const std::vector<InstructionId> order = operands_first(module, id);
      for (size_t i = order.size(); i-- > 0;)
        if (!module[order[i]].removed && editor.is_unused(order[i])) {
          editor.remove_unused(order[i]);
          changed = true;
        }
    }
  }
  return remove_unreachable(module) || changed;
}

}  // namespace hilo

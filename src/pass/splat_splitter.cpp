// Each reader of a scalar's broadcast gets a broadcast of its own, so that none is held from the
// first reader to the last.
//   b = broadcast(s), y = f(b), z = g(b) => y = f(broadcast(s)), z = g(broadcast(s))
// Not where somebody holds the array anyway: tuples, calls, results. Assumes that nothing merges
// equal values later, but passes of a back end that know what they fuse. Exact. For modules whose
// memory is looked at before anything is fused; last, because other rules ask for equal values.
#include <algorithm>

#include "pass/pass.h"

namespace hilo {
namespace {

// Whether the value is read by the instruction, and then no more needed for it.
bool only_reads(const Module& module, InstructionId user) {
  const Op op = module[user].op;
  return module.shape(user).is_array() && !has_trait(op, TraitNoTraffic) && !is_communication(op) &&
         op != Op::While && op != Op::Conditional && op != Op::Call;
}

bool is_splat(const Module& module, InstructionId id) {
  return module[id].op == Op::Broadcast && !module.shape(id).is_scalar() &&
         module.shape(module.operand(id, 0)).is_scalar();
}

bool split(Editor& editor, InstructionId splat) {
  Module& module = editor.module();
  std::vector<InstructionId> users = module.users(splat);
  users.erase(std::ranges::unique(users).begin(), users.end());
  if (users.size() < 2 || module[module[splat].computation].root == splat) return false;
  if (!std::ranges::all_of(users, [&](InstructionId user) { return only_reads(module, user); }))
    return false;
  for (size_t i = 1; i < users.size(); ++i) {
    const InstructionId scalar = module.operand(splat, 0);
    const InstructionId own = editor.clone(splat, module[splat].computation, std::array{scalar});
    for (size_t k = 0; k < module.operands(users[i]).size(); ++k)
      if (module.operand(users[i], k) == splat) editor.set_operand(users[i], k, own);
  }
  return true;
}

}  // namespace

Result<bool> split_splats(Module& module, const PassOptions&) {
  Editor editor(module);
  bool changed = false;
  for (ComputationId computation : open_computations(module))
    for (InstructionId id : std::vector(module[computation].instructions))
      if (is_splat(module, id) && !editor.is_pinned(id)) changed |= split(editor, id);
  return changed;
}

}  // namespace hilo

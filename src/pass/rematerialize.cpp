// What takes no arithmetic and is made of what is there anyway, each reader makes for itself, so
// that nothing is held from the first reader to the last: a scalar's broadcast, a parameter's
// reshape.
//   b = broadcast(s), y = f(b), z = g(b) => y = f(broadcast(s)), z = g(broadcast(s))
// What a result holds is left to it alone; not where a loop, a branch or a call gets the array.
// Assumes that nothing merges equal values later, but passes of a back end that know what they
// fuse. Exact. For modules whose memory is looked at before anything is fused; last, because other
// rules ask for equal values.
#include <algorithm>

#include "pass/pass.h"

namespace hilo {
namespace {

// Whether the value is read by the instruction, and then no more needed for it.
bool only_reads(const Module& module, InstructionId user) {
  const Op op = module[user].op;
  return module.shape(user).is_array() && !has_trait(op, TraitNoTraffic) && op != Op::While &&
         op != Op::Conditional && op != Op::Call;
}

// What is made without arithmetic of what is there anyway.
bool is_recomputable(const Module& module, InstructionId id) {
  const Instruction& instruction = module[id];
  if (instruction.op == Op::Broadcast)
    return !module.shape(id).is_scalar() && module.shape(module.operand(id, 0)).is_scalar();
  return instruction.op == Op::Reshape && instruction.computation == module.entry &&
         module[module.operand(id, 0)].op == Op::Parameter;
}

// Whether the value is a result, alone or with others.
bool is_returned(const Module& module, InstructionId id, std::vector<InstructionId>& users) {
  const InstructionId root = module[module[id].computation].root;
  return root == id || (module[root].op == Op::Tuple && std::erase(users, root) > 0);
}

bool recompute_for_readers(Editor& editor, InstructionId value) {
  Module& module = editor.module();
  std::vector<InstructionId> users = module.users(value);
  users.erase(std::ranges::unique(users).begin(), users.end());
  const size_t served = is_returned(module, value, users) ? 0 : 1;
  if (users.size() <= served) return false;
  if (!std::ranges::all_of(users, [&](InstructionId user) { return only_reads(module, user); }))
    return false;
  for (size_t i = served; i < users.size(); ++i) {
    const InstructionId operand = module.operand(value, 0);
    const InstructionId own = editor.clone(value, module[value].computation, std::array{operand});
    for (size_t k = 0; k < module.operands(users[i]).size(); ++k)
      if (module.operand(users[i], k) == value) editor.set_operand(users[i], k, own);
  }
  return true;
}

}  // namespace

Result<bool> rematerialize(Module& module, const PassOptions&) {
  Editor editor(module);
  bool changed = false;
  for (ComputationId computation : open_computations(module))
    for (InstructionId id : std::vector(module[computation].instructions))
      if (is_recomputable(module, id) && !editor.is_pinned(id))
        changed |= recompute_for_readers(editor, id);
  return changed;
}

}  // namespace hilo

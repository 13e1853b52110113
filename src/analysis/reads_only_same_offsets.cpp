#include <algorithm>

#include "analysis/analysis.h"

namespace hilo {
namespace {

bool keeps_offset(const Module& module, InstructionId user, InstructionId value) {
  const Op op = module[user].op;
  if (op == Op::Tuple) return true;
  if (op == Op::Reshape) return module.shape(user).type == module.shape(value).type;
  return reads_own_element(module, user, value);
}

}  // namespace

bool reads_only_same_offsets(const Module& module, InstructionId step, size_t operand) {
  if (module[step].op != Op::Fusion)
    return reads_own_element(module, step, module.operand(step, operand));
  const ComputationId fused = module.attributes<FusionAttributes>(step).calls;
  if (module[module[fused].root].op == Op::Fusion) return false;
  std::vector<InstructionId> waiting = {module[fused].parameters[operand]};
  std::vector<InstructionId> found;
  while (!waiting.empty()) {
    const InstructionId value = waiting.back();
    waiting.pop_back();
    for (InstructionId user : module.users(value)) {
      if (!keeps_offset(module, user, value)) return false;
      if (std::ranges::count(found, user) > 0) continue;
      found.push_back(user);
      waiting.push_back(user);
    }
  }
  return true;
}

}  // namespace hilo

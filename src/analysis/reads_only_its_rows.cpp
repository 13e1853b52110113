#include <algorithm>

#include "analysis/analysis.h"

namespace hilo {
namespace {

// How many leading dimensions all reductions of the computation keep; nothing where there are none,
// or one that keeps others.
std::optional<size_t> count_row_dims(const Module& module, ComputationId fused) {
  std::optional<size_t> out;
  for (InstructionId id : module[fused].instructions) {
    if (module[id].removed || module[id].op != Op::Reduce) continue;
    const Dims& reduced = module.attributes<ReduceAttributes>(id).dimensions;
    const size_t kept = module.shape(module.operand(id, 0)).dims.size() - reduced.size();
    if (std::ranges::any_of(reduced, [&](int64_t d) { return d < static_cast<int64_t>(kept); }) ||
        (out && *out != kept))
      return std::nullopt;
    out = kept;
  }
  return out;
}

}  // namespace

bool reads_only_its_rows(const Module& module, InstructionId fusion, size_t operand) {
  const ComputationId fused = module.attributes<FusionAttributes>(fusion).calls;
  const Dims& dims = module.shape(module.operand(fusion, operand)).dims;
  if (!module.shape(fusion).is_array() || module.shape(fusion).dims != dims ||
      !count_row_dims(module, fused))
    return false;
  std::vector<InstructionId> seen = {module[fused].parameters[operand]};
  for (size_t i = 0; i < seen.size(); ++i)
    for (InstructionId user : module.users(seen[i])) {
      const Op op = module[user].op;
      if (op == Op::Reduce && module[user].operand_count == 2 && module.operand(user, 0) == seen[i])
        continue;
      if (!is_elementwise(op) && !is_lookup(module, user)) return false;
      if (!reads_own_element(module, user, seen[i])) return false;
      if (std::ranges::count(seen, user) == 0) seen.push_back(user);
    }
  return true;
}

}  // namespace hilo

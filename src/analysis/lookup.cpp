#include "analysis/analysis.h"

namespace hilo {

bool is_lookup(const Module& module, InstructionId id) {
  if (module[id].op != Op::Gather) return false;
  const auto& a = module.attributes<GatherAttributes>(id);
  const InstructionId table = module.operand(id, 0), indices = module.operand(id, 1);
  return table != indices && module.shape(table).rank() == 1 && a.offset_dims.empty() &&
         a.slice_sizes == Dims{1} && a.operand_batching_dims.empty() &&
         module.shape(indices).dims == module.shape(id).dims;
}

bool reads_own_element(const Module& module, InstructionId user, InstructionId value) {
  const Op op = module[user].op;
  const bool fits = is_elementwise(op) || op == Op::Copy || op == Op::BitcastConvert;
  return (fits && module.shape(user).dims == module.shape(value).dims) ||
         (is_lookup(module, user) && module.operand(user, 1) == value);
}

}  // namespace hilo

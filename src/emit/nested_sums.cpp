#include "emit/nested_sums.h"

#include <algorithm>

#include "analysis/analysis.h"

namespace hilo {

bool is_computed_from_sums(const ElementEmitter& e, InstructionId id, size_t depth) {
  const Op op = e.module[id].op;
  if (op == Op::Reduce) return !e.array(id);
  if (depth > SearchBudget::max_depth || e.array(id) || !is_elementwise(op)) return false;
  return std::ranges::any_of(e.module.operands(id), [&](InstructionId operand) {
    return is_computed_from_sums(e, operand, depth + 1);
  });
}

}  // namespace hilo

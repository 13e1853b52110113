// What part of its elements each instruction of a computation has to give.
#include <algorithm>
#include <ranges>

#include "analysis/cost.h"

namespace hilo {

// Users stand after what they use.
void find_needed_parts(const Module& module, ComputationId computation,
                       const std::function<bool(InstructionId)>& combines,
                       std::vector<double>& parts) {
  const auto elements = [&](InstructionId id) { return elements_of(module.shape(id)); };
  const Computation& whole = module[computation];
  for (InstructionId id : whole.instructions) parts[id.value] = 0;
  parts[whole.root.value] = elements(whole.root);  // elements, until the instruction is reached
  for (InstructionId id : std::views::reverse(whole.instructions)) {
    const double all = elements(id), needed = std::min(parts[id.value], all);
    parts[id.value] = needed > 0 ? needed / all : 0;
    if (!(needed > 0)) continue;
    const bool combined = combines(id);
    for (InstructionId operand : module.operands(id)) {
      const double of_operand = elements(operand);
      parts[operand.value] += combined ? of_operand * (needed / all) : std::min(needed, of_operand);
    }
  }
}

}  // namespace hilo

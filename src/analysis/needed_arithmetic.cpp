// Arithmetic of steps, where what is fused computes no more than is needed of it.
#include <algorithm>
#include <ranges>
#include <span>

#include "analysis/cost.h"

namespace hilo {
namespace {

class NeededArithmetic {
 public:
  explicit NeededArithmetic(const Module& module)
      : module_(module), counting_(module), parts_(module.instructions.size()) {}

  std::vector<Cost> count() {
    std::vector<Cost> out(module_.instructions.size());
    for (ComputationId c : module_.post_order()) {
      for (InstructionId id : module_[c].instructions) out[id.value] = cost_of(id);
      counting_.inside[c.value] = sum_of(c, out);
    }
    return out;
  }

 private:
  // Of a window or a product no more than one operation for each element: how many there are is
  // the affair of who computes it.
  Cost cost_of(InstructionId id) const {
    const Instruction& instruction = module_[id];
    const Cost cost = arithmetic_of(counting_, instruction);
    if (is_elementwise(instruction.op) || instruction.op == Op::Fusion)
      return {.flops = cost.flops, .transcendentals = cost.transcendentals};
    double most = elements(id);
    for (InstructionId operand : module_.operands(id)) most += elements(operand);
    return {.flops = std::min(cost.flops, most),
            .transcendentals = std::min(cost.transcendentals, most)};
  }

  // Of one run whose result is needed whole, of instructions with these costs.
  Cost sum_of(ComputationId computation, std::span<const Cost> costs) {
    const auto combines = [&](InstructionId id) {
      const Cost& cost = costs[id.value];
      return !is_elementwise(module_[id].op) && cost.flops + cost.transcendentals > 0;
    };
    find_needed_parts(module_, computation, combines, parts_);
    Cost sum;
    for (InstructionId id : std::views::reverse(module_[computation].instructions)) {
      sum.flops += costs[id.value].flops * parts_[id.value];
      sum.transcendentals += costs[id.value].transcendentals * parts_[id.value];
    }
    return sum;
  }

  double elements(InstructionId id) const { return elements_of(module_.shape(id)); }

  const Module& module_;
  Counting counting_;
  std::vector<double> parts_;  // that are needed, by instruction
};

}  // namespace

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

std::vector<Cost> count_needed_arithmetic(const Module& module) {
  return NeededArithmetic(module).count();
}

}  // namespace hilo

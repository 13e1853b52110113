// Arithmetic of steps, where what is fused computes no more than is needed of it.
#include <algorithm>
#include <span>

#include "analysis/cost.h"

namespace hilo {
namespace {

class NeededArithmetic {
 public:
  explicit NeededArithmetic(const Module& module)
      : module_(module), counting_(module), needed_(module.instructions.size()) {}

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

  // Of one run whose result is needed whole, of instructions with these costs. Users stand after
  // what they use.
  Cost sum_of(ComputationId computation, std::span<const Cost> costs) {
    const std::vector<InstructionId>& instructions = module_[computation].instructions;
    for (InstructionId id : instructions) needed_[id.value] = 0;
    needed_[module_[computation].root.value] = elements(module_[computation].root);
    Cost sum;
    for (size_t n = instructions.size(); n-- > 0;) {
      const InstructionId id = instructions[n];
      const double all = elements(id), needed = std::min(needed_[id.value], all);
      if (needed == 0) continue;
      const Cost& cost = costs[id.value];
      sum.flops += cost.flops * (needed / all);
      sum.transcendentals += cost.transcendentals * (needed / all);
      const bool combines =
          !is_elementwise(module_[id].op) && cost.flops + cost.transcendentals > 0;
      for (InstructionId operand : module_.operands(id)) {
        const double of_operand = elements(operand);
        needed_[operand.value] +=
            combines ? of_operand * (needed / all) : std::min(needed, of_operand);
      }
    }
    return sum;
  }

  double elements(InstructionId id) const { return elements_of(module_.shape(id)); }

  const Module& module_;
  Counting counting_;
  std::vector<double> needed_;  // elements of an instruction
};

}  // namespace

std::vector<Cost> count_needed_arithmetic(const Module& module) {
  return NeededArithmetic(module).count();
}

}  // namespace hilo

#include "plan/kernel_forms.h"

namespace hilo {

bool stands_in_code(const Module& module, InstructionId operand) {
  if (module[operand].op != Op::Constant) return false;
  const auto& literal = module.attributes<ConstantAttributes>(operand).literal.literal;
  return literal && literal->shape().is_array() && literal->count() == 1;
}

size_t first_leaf(const Shape& tuple, size_t element) {
  size_t leaf = 0;
  for (size_t e = 0; e < element; ++e) leaf += static_cast<size_t>(leaf_count(tuple.elements[e]));
  return leaf;
}

}  // namespace hilo

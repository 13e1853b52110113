// Dimensions of products, and how much longer collectives beside them may take. Private to
// `pass/collective`.
#pragma once

#include "pass/pass.h"

namespace hilo {

// Where a dimension of an operand stands in a product.
struct Role {
  bool is_summed = false;
  size_t other = 0;   // of the other operand, where it is summed
  size_t result = 0;  // of the result, where it is not
};
// Nothing for batch dimensions.
std::optional<Role> role_of(const Module& module, InstructionId dot, size_t side, size_t dim);
// Neither sparse nor sharded, and of static sizes.
bool is_plain_dot(const Module& module, InstructionId dot);
// The same product with another operand on one side, or on both.
InstructionId product_of(Editor& editor, InstructionId dot, size_t side, InstructionId operand,
                         const Shape& shape, InstructionId other = {});
// By instruction of a computation: how much later than possible each may end without the whole
// taking longer, seconds.
std::vector<double> slack_of(const Module& module, std::span<const InstructionId> order,
                             const StepTimes& times);

}  // namespace hilo

// Private to `emit`.
#pragma once

#include "emit/element_emitter.h"

namespace hilo {

// The dimensions of an operand that it has alone, ascending.
Dims free_dims(const Dims& dims, const Dims& batch, const Dims& contracting);
// Whether the dot is a batch of products of so few multiplications that they may stand side by side
// in the code of an element.
bool is_of_tiny_products(const Module& module, InstructionId dot);

}  // namespace hilo

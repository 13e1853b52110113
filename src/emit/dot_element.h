// Private to `emit`.
#pragma once

#include "emit/elements.h"

namespace hilo {

// Whether the dot is a batch of products of so few multiplications that they may stand side by side
// in the code of an element.
bool is_of_tiny_products(const Module& module, InstructionId dot);

}  // namespace hilo

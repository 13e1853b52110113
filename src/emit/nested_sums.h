// Sums within the elements that a loop computes. Private to `emit`.
#pragma once

#include "emit/kernel_builder.h"

namespace hilo {

// Whether an element is made by sums of its own, whose code stands once for each vector of lanes.
bool is_computed_from_sums(const ElementEmitter& e, InstructionId id, size_t depth = 0);

}  // namespace hilo

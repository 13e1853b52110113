// Private to `pass`.
#pragma once

#include "analysis/analysis.h"

namespace hilo {

// An order of a computation that is not scheduled: operands first, and of what is ready, what
// writes over a value only after all readers of that value, wherever the operands allow it.
std::vector<InstructionId> readers_first(const Module& module, const Aliases& aliases,
                                         ComputationId computation);

}  // namespace hilo

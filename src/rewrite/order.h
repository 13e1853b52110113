// The order of instructions. Private to `rewrite`, shown through rewrite.h.
#pragma once

#include "ir/ir.h"

namespace hilo {

// Live instructions of a computation in its order, but each after its operands and control
// predecessors.
std::vector<InstructionId> operands_first(const Module& module, ComputationId id);
// Puts every computation into that order, and drops what was removed. An old instruction (one below
// `first_new`) that had to change places with another ends the module's being scheduled.
void restore_order(Module& module, uint32_t first_new);
// Computations that the entry does not reach are dropped. Whether there were any.
bool remove_unreachable(Module& module);

}  // namespace hilo

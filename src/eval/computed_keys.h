// Keys that a comparator computes of an element's operands before it compares two elements.
// Private to `eval`.
#pragma once

#include "eval/block_program.h"
#include "kernels/kernels.h"

namespace hilo {

// `values` are scalars of the comparator that read none but its parameters of even number, those
// of the left element. None: blocks cannot do one of their instructions.
std::optional<ComputedSortKeys> find_computed_keys(const Module& module, ComputationId comparator,
                                                   std::span<const InstructionId> values);

}  // namespace hilo

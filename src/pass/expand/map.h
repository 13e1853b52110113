// Computations over scalars as ops on whole arrays. Private to `pass`.
#pragma once

#include "pass/pass.h"

namespace hilo {

// Whether a computation is made of elementwise ops on scalars; its root may be a tuple of them.
bool is_mappable(const Module& module, ComputationId computation);
// What a mappable computation gives for the elements of arrays of the same dimensions: its root, or
// the parts of its root. New instructions are like `like`.
std::vector<InstructionId> map_arrays(Editor& editor, InstructionId like, ComputationId computation,
                                      std::span<const InstructionId> arrays);

}  // namespace hilo

// Where the elements side by side in a value begin to come from elsewhere. Private to `emit`.
#pragma once

#include "ir/ir.h"

namespace hilo {

// Places of dimension `dim`, ascending and inside it, at which concatenations that the value is
// made of go from one operand to the next: a loop over the places between two of them reads one
// operand of each. None where there are more than a few.
std::vector<int64_t> seams(const Module& module, InstructionId id, size_t dim);

}  // namespace hilo

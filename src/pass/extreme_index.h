// Computations that choose the greater of two values and its index. Private to `pass`.
#pragma once

#include "ir/ir.h"

namespace hilo {

// Of (a, i, b, j) -> (a, i) or (b, j): Maximum where that is the greater value, with the smaller
// index of equal ones, Minimum the same for the smaller value. NaN comes before all numbers, and
// brings either index. Nothing for other computations.
std::optional<Op> find_extreme(const Module& module, ComputationId computation);

}  // namespace hilo

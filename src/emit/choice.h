// Reductions that choose, as the place of a largest element. Private to `emit`.
#pragma once

#include "ir/ir.h"

namespace hilo {

// Whether a computation over two tuples of numbers gives the same in any order of combining while
// no number is NaN, and a NaN where one is. Shown by trying: where it does nothing but compare
// numbers of the same kind and select among them, it depends on their order alone, and three of
// each kind stand in every order there is.
bool chooses_in_any_order(const Module& module, ComputationId computation);

}  // namespace hilo

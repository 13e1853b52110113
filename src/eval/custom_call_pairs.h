// Custom calls of TPU modules on pairs of arrays that stand for one. Private to `eval`.
#pragma once

#include "eval/custom_call.h"

namespace hilo {

// Two operands as one array of the type: parts of complex numbers, or f64 as sums. `target` is
// called with it, and the first `halved` results are pairs again.
Result<Literal> call_on_pairs(Call& call, ElementType type, const std::string& target,
                              size_t halved);
// Of a call with one operand, or with two for the parts of complex ones: an error for others.
Result<void> need_matrices(const Call& call);

}  // namespace hilo

// The reduction of all-reduce and reduce-scatter. Private to `eval`.
#pragma once

#include "eval/call.h"

namespace hilo {

// accumulator = computation(accumulator, value), element by element. The computation takes two
// scalars, and then each array is reduced by itself; or two for each array, reduced together.
Result<void> reduce_into(const Call& call, ComputationId computation,
                         std::span<Literal> accumulators, std::span<const Literal> values);

}  // namespace hilo

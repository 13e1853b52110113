// Rules of StableHLO's specification that several handlers check. Private to to_module*.cpp.
#pragma once

#include "wire/stablehlo/handlers.h"

namespace hilo::mlir {

// Equal where both are known.
bool fits(const Shape& found, const Shape& stated);
// A region takes these values under the types that its block states.
Result<void> need_arguments(Step& step, const Block& block, std::span<const InstructionId> values);
// A reducer of n arrays: scalars (E0, .., En-1, E0, .., En-1) -> (E0, .., En-1).
Result<void> need_reducer(Step& step, ComputationId reducer, size_t n);
// Where a collective has roots that are data, they are its last operand: s32, one for each other.
Result<void> need_roots(const Step& step);

}  // namespace hilo::mlir

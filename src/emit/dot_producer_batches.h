// Products of batches whose operands' producers are computed inside. Private to `emit`.
#pragma once

#include "emit/dot_side.h"

namespace hilo {

// Iterations are batches: what no array holds of the operands is computed in the frame, one batch
// at a time, and product() writes the results of it as those of a step of its own.
void write_producer_batches(KernelBuilder& w, InstructionId id, const Side& lhs, const Side& rhs,
                            llvm::function_ref<void(const Side& lhs, const Side& rhs)> product);

}  // namespace hilo

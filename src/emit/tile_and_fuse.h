// A product or a convolution and the elementwise step that reads it, done together: of each few
// lines of the result the second step is done while a cache holds them. Private to `emit`.
//
//   second(first(x)), part by part = second(first(x))
//
// Where the second step reads of the first one's result no element but those in the places that it
// writes, and neither writes what the other still reads.
#pragma once

#include "emit/steps.h"

namespace hilo {

// Emits the first of these steps, which follow each other, and those after it that are done with
// it. How many they are.
Result<size_t> emit_tiled_and_fused(Steps& steps, std::span<const InstructionId> order);

}  // namespace hilo

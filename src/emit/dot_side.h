// An operand of a product as walks over one array. Private to `emit`.
#pragma once

#include "emit/writer.h"

namespace hilo {

// Dimensions of an array that are walked as one: `count` steps of `stride` elements.
struct Walk {
  int64_t count = 1, stride = 0;
};

// One operand: its walks over batches, over what it alone has, and over what is summed. The array
// is null where none holds it.
struct Side {
  ElementType type;
  llvm::Value* array;
  Walk batch, own, depth;
};

// Null where dimensions of one kind are not one walk.
std::optional<Side> side_of(Writer& w, InstructionId id, const Dims& batch,
                            const Dims& contracting);

}  // namespace hilo

// An operand of a product as walks over one array. Private to `emit`.
#pragma once

#include "emit/kernel_builder.h"

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
std::optional<Side> side_of(KernelBuilder& w, InstructionId id, const Dims& batch,
                            const Dims& contracting);

// Whether elements stand as rows of terms, one after the other.
bool is_in_rows(const Shape& shape, const Side& side);
// Whether lanes of the result hold the sums: of floats that they hold exactly, and of integers,
// whose sums wrap.
bool are_summed_in_lanes(ElementType operand, ElementType result);

}  // namespace hilo

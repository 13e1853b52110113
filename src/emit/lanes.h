// Vectors of f32 or f64 for products: several elements of an array side by side. Private to `emit`.
#pragma once

#include "emit/loops.h"

namespace hilo {

// Floats of all widths.
bool has_lanes(ElementType type);
// Elements [position, position + lanes) as a vector of `real`, which holds them exactly.
llvm::Value* load_lanes(Builder& b, ElementType type, llvm::Value* array, llvm::Value* position,
                        int64_t lanes, llvm::Type* real);
// Whether store_lanes() stores a vector; else it is a loop over elements, which are rounded.
bool stores_lanes(ElementType type);
// Stores them from `position` on, rounded once.
void store_lanes(Builder& b, ElementType type, llvm::Value* array, llvm::Value* position,
                 llvm::Value* lanes);
// a * c + sum, in one rounding where the machine does that as fast.
llvm::Value* multiply_add_lanes(Builder& b, llvm::Value* a, llvm::Value* c, llvm::Value* sum);

}  // namespace hilo

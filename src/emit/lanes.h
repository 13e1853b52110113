// Vectors of f32, f64 or integers for products: several elements of an array side by side. Private
// to `emit`.
#pragma once

#include "emit/loops.h"

namespace hilo {

// Elements [first, first + lanes) of a strip.
struct LaneChunk {
  int64_t first, lanes;
};
// What a strip of so many lanes is kept in from one round of a loop to the next: powers of two, and
// at last a part of a register, which has lanes_of_register. A vector of another size would be
// carried element by element.
std::vector<LaneChunk> chunks_of_lanes(int64_t lanes, int64_t lanes_of_register);

// Elements [position, position + lanes) as a vector of `real`, which holds them exactly; integers
// wider than that wrap. Of `first` lanes only, and zeros in the others, where registers have masks.
llvm::Value* load_lanes(Builder& b, ElementType type, llvm::Value* array, llvm::Value* position,
                        int64_t lanes, llvm::Type* real,
                        std::optional<int64_t> first = std::nullopt);
// Whether store_lanes() stores a vector, as of f32, f64 and integers of whole bytes; else it is a
// loop over elements, which are rounded.
bool stores_lanes(ElementType type);
// Stores them from `position` on, rounded once; integers wrap.
void store_lanes(Builder& b, ElementType type, llvm::Value* array, llvm::Value* position,
                 llvm::Value* lanes);
// a * c + sum, of floats in one rounding where the machine does that as fast; integers wrap.
llvm::Value* multiply_add_lanes(Builder& b, llvm::Value* a, llvm::Value* c, llvm::Value* sum);
// The sum of the lanes of each vector, as elements: in halves, each half added to the other one.
// The vectors have the same power of two of lanes.
std::vector<llvm::Value*> sums_of_lanes(Builder& b, std::span<llvm::Value* const> vectors);

}  // namespace hilo

// Arrays in the order of their physical memory, as transposes, pads and reshapes. Private to
// `target`.
#pragma once

#include "pass/pass.h"

namespace hilo {

// A step from a logical array to the row of its physical elements; each has an inverse.
struct MemoryMove {
  Op op;               // Transpose; Reshape; Pad at the high ends
  Dims before, after;  // sizes
  Dims order = {};     // of a Transpose
  bool operator==(const MemoryMove&) const = default;
};
// From shape.dims to {physical_count(shape)}, by the layout's order and tiles.
std::vector<MemoryMove> moves_to_memory(const Shape& shape);

// Adds the instructions of `forward`, and of `back` from its end to an array of sizes `to`, in the
// computation of `like`. What stands at the end of both is left out, and rows of different length
// are cut or filled with zeros.
InstructionId add_moves(Editor& editor, InstructionId like, InstructionId value,
                        std::vector<MemoryMove> forward, std::vector<MemoryMove> back,
                        const Dims& to);

}  // namespace hilo

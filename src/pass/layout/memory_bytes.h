// Arrays as the bits that their layouts put into memory, in ops. Private to `pass`.
#pragma once

#include "pass/pass.h"

namespace hilo {

// The elements of one dimension that lie side by side in memory, `bits` each, low bits first; an
// element of fewer bits is extended by its sign or by zeros.
struct MemoryRow {
  InstructionId value;
  int64_t bits;
};
// What elements of a type are while they move: floats that are computed with as wider ones, which
// does not keep all bits of a NaN, are words.
ElementType moved_type(ElementType type);
// All elements of an array in the order of its memory as moved_type, padding as zeros.
MemoryRow add_row(Editor& editor, InstructionId like, InstructionId value);
// The array of the shape that such a row of its moved_type is; a row that is too short goes on with
// zeros. The result has no layout.
InstructionId add_array(Editor& editor, InstructionId like, const MemoryRow& row,
                        const Shape& shape);
// Both for two shapes of the same elements, without what cancels out.
InstructionId add_reordered(Editor& editor, InstructionId like, InstructionId value,
                            const Shape& shape);

// Whether the elements of a row may be taken as others: those of 1, 2, 4 and whole bytes of bits,
// and no 6-bit floats.
bool can_retype(ElementType type, int64_t bits);
// The same bits as elements of a type that take so many bits, the last one completed by zeros.
MemoryRow add_retyped(Editor& editor, InstructionId like, const MemoryRow& row, ElementType type,
                      int64_t bits);

// Bits that one element takes in memory.
int64_t memory_bits(const Shape& shape);

}  // namespace hilo

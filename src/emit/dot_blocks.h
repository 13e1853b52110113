// dot as loops over registers: a block of rows of the left operand times a strip of columns of the
// right one. Small products and those with few rows or columns are written so; of others a library
// has better blocks for the caches. Private to `emit`.
#pragma once

#include "emit/dot_side.h"
#include "emit/kernel_builder.h"

namespace hilo {

// The product of two arrays.
void write_blocks(KernelBuilder& w, Side lhs, Side rhs, ElementType result);

// Of a left operand that no array holds, but what is fused makes row by row.
void write_blocks_of_producer(KernelBuilder& w, InstructionId left, const Side& lhs,
                              const Side& rhs, ElementType result);

}  // namespace hilo

// How long a product takes in each of its forms: its stages are counted in instructions of vectors,
// and in bytes from each cache, and the machine's record says what they take (docs/kernels.md).
// Private to `plan`.
#pragma once

#include "machine/machine.h"
#include "plan/kernel_forms.h"

namespace hilo {

// Two operands, of which the left one's rows and the right one's columns are multiplied.
struct ProductSides {
  const DotSide &lhs, &rhs;
  ElementType result;
};

// Seconds of one thread.
double seconds_in_blocks(const ProductSides& sides, const ProductForm& form,
                         const KernelChip& chip);
double seconds_by_elements(const ProductSides& sides, const KernelChip& chip);
double seconds_of_routine(const ProductSides& sides, const KernelChip& chip);

}  // namespace hilo

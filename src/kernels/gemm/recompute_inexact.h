// Sums that a kernel does not compute as f32 would are recomputed. Private to `kernels`.
#pragma once

#include "kernels/gemm/matrix_product.h"

namespace hilo {

// Computes a block of a product again, from its row i and column j on, if the kernel says that the
// sums that stand there are not sound.
void recompute_inexact(const MatrixProduct& product, int64_t i, int64_t j, const KernelBlock& sums);

}  // namespace hilo

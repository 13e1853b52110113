// Products of few columns, or of those that stay in the second cache: rows of the left operand are
// read once, where they stand. Private to `kernels`.
#pragma once

#include "kernels/gemm/matrix_product.h"

namespace hilo {

// Whether blocks may read rows of the left operand where they stand.
bool rows_stand(const MatrixProduct& product);
// The same, and the columns are so few, or stay in the second cache, that packing rows would cost
// more.
bool has_few_columns(const MatrixProduct& product);
// `parallel` null: on the calling thread.
void run_skinny_gemm_columns(const MatrixProduct& product, const Parallel* parallel);

}  // namespace hilo

// Products of few rows: the right operand is read once, by the thread that needs it. Private to
// `eval`.
#pragma once

#include "eval/matrix_product.h"

namespace hilo {

constexpr int64_t few_rows = 20 * kernel_rows;
// `parallel` null: on the calling thread.
void run_few_rows_product(const MatrixProduct& product, const Parallel* parallel);

}  // namespace hilo

// Products of few columns, or of few rows and columns: rows of the left operand are read once,
// where they stand. Private to `eval`.
#pragma once

#include "eval/matrix_product.h"

namespace hilo {

// Whether the columns are so few, or few beside few rows, and the rows lie so, that packing rows
// would cost more than to read them where they stand.
bool has_few_columns(const MatrixProduct& product);
// `parallel` null: on the calling thread.
void run_few_columns_product(const MatrixProduct& product, const Parallel* parallel);

}  // namespace hilo

// Factors of matrices in place, in blocks. Private to `eval`.
#pragma once

#include "eval/matrix_view.h"

namespace hilo {

// L of A = L L*, from the lower triangle of a Hermitian matrix; the upper one is not read,
// and holds nothing of use afterwards. Gives the place of the first pivot that is not positive,
// where it ends, or else the number of rows.
template <class T>
int64_t factor_cholesky(MatrixView<T> a, MaybeParallel parallel);

}  // namespace hilo

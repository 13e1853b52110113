// Products that are subtracted from a matrix in place. Private to `kernels`.
#pragma once

#include "kernels/kernels.h"

namespace hilo {

// c -= a b, or with the complex conjugate of b. The rows of c or its columns are side by side.
template <class T>
void subtract_product(MatrixView<T> c, MatrixView<const T> a, MatrixView<const T> b,
                      bool conjugates, MaybeParallel parallel);

}  // namespace hilo

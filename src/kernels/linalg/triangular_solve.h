// Systems of triangular matrices by substitution, in blocks. Private to `kernels`.
#pragma once

#include "kernels/linalg/matrix_view.h"

namespace hilo {

// A lower triangle in the order in which it is solved. The other one is not read, nor is the
// diagonal where that is units.
template <class T>
struct Triangle {
  MatrixView<const T> a;
  bool is_conjugated = false, has_units = false;

  Triangle block(int64_t i, int64_t j, int64_t rows, int64_t columns) const {
    return {a.block(i, j, rows, columns), is_conjugated, has_units};
  }
  T operator()(int64_t i, int64_t j) const { return conjugate_if(is_conjugated, a(i, j)); }
};
// x is B and becomes X of A X = B; its rows or its columns are side by side.
template <class T>
void solve_triangle(const Triangle<T>& triangle, MatrixView<T> x, MaybeParallel parallel);

}  // namespace hilo

// Systems of triangular matrices by substitution, in blocks. Private to `eval`.
#pragma once

#include "eval/matrix_view.h"

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

// op(A) X = B, or X op(A) = B where A does not stand on the left; row-major.
template <class T>
struct TriangularSystem {
  int64_t rows, columns;  // of X
  bool on_left = true, is_lower = true, is_transposed = false, is_conjugated = false,
       has_units = false;

  int64_t order() const { return on_left ? rows : columns; }
  // Multiplications, about.
  int64_t work() const { return order() * rows * columns; }
  // x is B and becomes X.
  void solve(const T* a, T* x, MaybeParallel parallel) const;
};

// Systems of a batch one after the other, each on all threads, or each on one; by the sizes alone.
bool is_alone(int64_t batches, int64_t work);

}  // namespace hilo

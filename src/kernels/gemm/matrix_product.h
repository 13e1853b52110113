// A product of matrices by a kernel, on all threads. Private to `kernels`.
#pragma once

#include "kernels/gemm/matrix_kernel.h"
#include "kernels/kernels.h"

namespace hilo {

// Multiplications that one call of `parallel` does: so many, some 0.3 s of one thread, cannot be
// interrupted. Between calls other devices take the threads, and the caches.
constexpr int64_t max_work_at_once = int64_t{1} << 35;

// A finished part of a product: its rows from i and columns from j on, of which element (r, q)
// stands at c[r * leading + q].
struct ProductPart {
  int64_t i, rows, j, columns;
  const void* c;
  int64_t leading;
};

// out[i * leading + j] (+)= sum over t < k of lhs(i, t) * rhs(j, t). The terms are added in the
// order of t, in blocks of a length that depends on the sizes alone. Results have the type of the
// kernel's sums. `take` is called once for each part that is there, on any thread; where `out` is
// null parts stand nowhere else.
struct MatrixProduct {
  const MatrixKernel* kernel;  // that reads the sources
  int64_t m, n, k;
  MatrixSource lhs, rhs;
  void* out = nullptr;
  int64_t leading = 0;
  bool accumulate = false;
  std::function<void(const ProductPart&)> take = {};
};
void run_matrix_product(const MatrixProduct& product, const Parallel& parallel);
void run_matrix_product(const MatrixProduct& product);  // on the calling thread

}  // namespace hilo

// A product of matrices in registers, summed in f32. Private to `eval`.
#pragma once

#include "shape/shape.h"

namespace hilo {

// Element (i, t), i the free index and t the summed one, stands at data[i * outer + t * inner].
struct MatrixSource {
  const void* data;
  ElementType type;
  int64_t outer, inner;
};

// Whether this machine has the kernel (AVX-512), and whether it reads such elements.
bool has_matrix_kernel();
bool is_kernel_source(ElementType type);

// out[i * leading + j] (+)= sum over t < k of lhs(i, t) * rhs(j, t), on the calling thread. The
// terms are added in the order of t, in blocks of a length that depends on k alone. m at most
// most_kernel_rows.
struct MatrixProduct {
  int64_t m, n, k;
  MatrixSource lhs, rhs;
  float* out;
  int64_t leading;
  bool accumulate;
};
constexpr int64_t most_kernel_rows = 588;
void run_matrix_kernel(const MatrixProduct& product);

}  // namespace hilo

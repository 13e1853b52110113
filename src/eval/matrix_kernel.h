// Products of small blocks of matrices in registers, summed in f32, and the packed copies that they
// read. Private to `eval`.
#pragma once

#include "shape/shape.h"

namespace hilo {

// Element (i, t), i the free index and t the summed one, stands at data[i * outer + t * inner];
// with tables at data[outers[i] + inners[t]], and `outer` and `inner` are 0.
struct MatrixSource {
  const void* data;
  ElementType type;
  int64_t outer, inner;
  const int64_t *outers = nullptr, *inners = nullptr;
};

// Whether this machine has the kernel (AVX-512), and whether it reads such elements.
bool has_matrix_kernel();
bool is_kernel_source(ElementType type);

// What stays in registers, and the distance of neighbours of the summed index in packed rows.
constexpr int64_t kernel_rows = 14, kernel_columns = 32, packed_rows = 16;

// The part [i, i + count) of the free and [t, t + k) of the summed index of a source.
struct SourcePart {
  const MatrixSource& source;
  int64_t i, count, t, k;
};
// out[t * packed_rows + r] = element (r, t) of the part; up to kernel_rows rows.
void pack_rows(const SourcePart& part, float* out);
// out[j / 32 * 32 * depth + t * 32 + j % 32] = element (j, t) of the part. `out` is aligned as a
// vector; of the last strip the vectors that hold an element are written.
void pack_columns(const SourcePart& part, int64_t depth, float* out);

// c[i * leading + j] (+)= sum over t < k of a(i, t) * b(j, t), added in the order of t.
struct KernelBlock {
  const float *a, *b;  // packed rows, and one packed strip
  int64_t k, rows, columns;
  float* c;
  int64_t leading;
  bool add;
};
void run_matrix_kernel(const KernelBlock& block);
// The same with the right operand's columns from j and lines from t on, where they stand; b is not
// used. The source must be a direct one: lines of columns side by side.
bool is_direct_source(const MatrixSource& source);
void run_direct_kernel(const KernelBlock& block, const MatrixSource& rhs, int64_t j, int64_t t);

// out[i] = in[i] rounded to bf16 or f16.
void store_rounded(const float* in, int64_t count, ElementType type, void* out);

}  // namespace hilo

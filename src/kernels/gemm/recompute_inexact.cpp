#include "kernels/gemm/recompute_inexact.h"

#include "base/base.h"
#include "kernels/packed_memory.h"

namespace hilo {
namespace {

// By the kernel of any f32.
void compute(const MatrixProduct& p, int64_t i, int64_t j, const KernelBlock& block) {
  check(!p.accumulate, "matrix product: sums that are lost");
  const MatrixKernel& kernel = *avx512_kernels(ElementType::F32).front();
  constexpr int64_t together = 256;
  const Cut rows{block.rows, part_count(block.rows, kernel.rows)};
  const int64_t strips = part_count(block.columns, kernel.columns);
  const int64_t row_bytes = kernel.row_step * together * kernel.bytes;
  const int64_t strip_bytes = kernel.columns * together * kernel.bytes;
  thread_local PackedMemory memory;
  std::byte* packed_rows = memory.take(row_bytes + strips * strip_bytes);
  std::byte* packed_columns = packed_rows + row_bytes;
  for (int64_t t = 0; t < p.k; t += together) {
    KernelBlock sums = {
        .a = packed_rows, .k = std::min(together, p.k - t), .leading = block.leading, .add = t > 0};
    kernel.pack_columns({p.rhs, j, block.columns, t, sums.k}, together, packed_columns);
    for (int64_t part = 0; part < rows.parts; ++part) {
      sums.rows = rows.size(part);
      kernel.pack_rows({p.lhs, i + rows.begin(part), sums.rows, t, sums.k}, packed_rows);
      float* c = static_cast<float*>(block.c) + rows.begin(part) * block.leading;
      for (int64_t strip = 0; strip < strips; ++strip) {
        const int64_t first = strip * kernel.columns;
        sums.b = packed_columns + strip * strip_bytes;
        sums.columns = std::min(kernel.columns, block.columns - first);
        sums.c = c + first;
        kernel.run(sums);
      }
    }
  }
}

}  // namespace

void recompute_inexact(const MatrixProduct& p, int64_t i, int64_t j, const KernelBlock& sums) {
  if (!p.kernel->are_sound(sums)) compute(p, i, j, sums);
}

}  // namespace hilo

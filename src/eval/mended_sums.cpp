#include "eval/mended_sums.h"

#include "base/base.h"
#include "eval/packed_memory.h"

namespace hilo {
namespace {

// By the kernel of any f32.
void compute(const MatrixProduct& p, Stretch rows, Stretch columns, KernelBlock sums) {
  check(!p.accumulate, "matrix product: sums that are lost");
  const MatrixKernel& kernel = *avx512_kernels(ElementType::F32).front();
  constexpr int64_t together = 256;
  const Cut blocks{rows.count, pieces_of(rows.count, kernel.rows)};
  const int64_t strips = pieces_of(columns.count, kernel.columns);
  const int64_t row_bytes = kernel.row_step * together * kernel.bytes;
  const int64_t strip_bytes = kernel.columns * together * kernel.bytes;
  thread_local PackedMemory memory;
  std::byte* packed_rows = memory.take(blocks.parts * row_bytes + strips * strip_bytes);
  std::byte* packed_columns = packed_rows + blocks.parts * row_bytes;
  auto* const c = static_cast<float*>(sums.c);
  for (int64_t t = 0; t < p.k; t += together) {
    const int64_t k = std::min(together, p.k - t);
    kernel.pack_columns({p.rhs, columns.begin, columns.count, t, k}, together, packed_columns);
    for (int64_t block = 0; block < blocks.parts; ++block) {
      kernel.pack_rows({p.lhs, rows.begin + blocks.begin(block), blocks.size(block), t, k},
                       packed_rows);
      sums.a = packed_rows, sums.k = k, sums.rows = blocks.size(block), sums.add = t > 0;
      for (int64_t strip = 0; strip < strips; ++strip) {
        const int64_t j = strip * kernel.columns;
        sums.b = packed_columns + strip * strip_bytes;
        sums.columns = std::min(kernel.columns, columns.count - j);
        sums.c = c + blocks.begin(block) * sums.leading + j;
        kernel.run(sums);
      }
    }
  }
}

}  // namespace

void mend_sums(const MatrixProduct& p, int64_t i, int64_t j, const KernelBlock& sums) {
  if (!p.kernel->are_sound(sums)) compute(p, {i, sums.rows}, {j, sums.columns}, sums);
}

}  // namespace hilo

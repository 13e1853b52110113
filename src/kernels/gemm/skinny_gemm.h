// Products of few rows: the right operand is read once, by the thread that needs it. Private to
// `kernels`.
#pragma once

#include "kernels/gemm/matrix_product.h"
#include "kernels/packed_memory.h"

namespace hilo {

constexpr int64_t max_skinny_blocks = 20;            // of a kernel's rows
constexpr int64_t max_packed_rows = 2100;            // at once
constexpr int64_t worth_packing_together = 1 << 16;  // elements that threads pack for each other
// The packed elements of the summed index, in depths.
Cut depths_of(const MatrixProduct& product);
// Whether strips are packed one by one. Sums of few terms are rather stored side by side.
inline bool packs_single_strips(const MatrixProduct& product) {
  constexpr int64_t min_packed_terms = 256;
  return product.kernel->packs_single_strips && product.k >= min_packed_terms;
}
// body(i) for each i < count. `parallel` null, here and below: on the calling thread.
void run_each(const Parallel* parallel, int64_t count, const std::function<void(int64_t)>& body);
void run_skinny_gemm(const MatrixProduct& product, const Parallel* parallel);

}  // namespace hilo

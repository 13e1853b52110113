// The index vectors of gather and scatter: one for each batch position, read along one dimension of
// the indices. Private to `eval`.
#pragma once

#include "eval/eval.h"

namespace hilo {

// How the dimensions of an array and of an indices array relate. `map[c]` is the array's dimension
// that component c moves; batching dimensions of both move together.
struct IndexVectors {
  const Literal& indices;
  int64_t vector_dim;
  std::span<const int64_t> map, array_batching_dims, indices_batching_dims;

  // Component or start number `at` of `indices`; unsigned ones of 2^63 and more are the largest.
  static int64_t start_at(const Literal& indices, int64_t at);
  Dims batch_dims() const;  // sizes of the indices without the vector dimension
  // Start of every batch position in an array of `rank` dimensions, as one row each.
  Dims starts(int64_t rank) const;
};

}  // namespace hilo

#include "eval/index_vectors.h"

#include "eval/positions.h"

namespace hilo {

int64_t IndexVectors::start_at(const Literal& indices, int64_t at) {
  const int64_t start = indices.integer_at(at);
  return indices.type() == ElementType::U64 && start < 0 ? INT64_MAX : start;
}

Dims IndexVectors::batch_dims() const {
  Dims out;
  for (int64_t d = 0; d < indices.shape().rank(); ++d)
    if (d != vector_dim) out.push_back(indices.shape().dims[d]);
  return out;
}

Dims IndexVectors::starts(int64_t rank) const {
  const Dims sizes = batch_dims(), all_strides = row_major_strides(indices.shape().dims);
  const bool has_vector = vector_dim < indices.shape().rank();
  const int64_t component_step = has_vector ? all_strides[vector_dim] : 0;
  Dims strides;
  for (int64_t d = 0; d < indices.shape().rank(); ++d)
    if (d != vector_dim) strides.push_back(all_strides[d]);
  const Dims rows = positions(sizes, strides);
  Dims out(rows.size() * rank, 0), index(sizes.size(), 0);
  for (size_t row = 0; row < rows.size(); ++row, next_index(index, sizes)) {
    int64_t* start = out.data() + row * rank;
    for (size_t c = 0; c < map.size(); ++c)
      start[map[c]] = start_at(indices, rows[row] + static_cast<int64_t>(c) * component_step);
    for (size_t b = 0; b < array_batching_dims.size(); ++b) {
      const int64_t dim = indices_batching_dims[b];
      start[array_batching_dims[b]] = index[dim > vector_dim ? dim - 1 : dim];
    }
  }
  return out;
}

}  // namespace hilo

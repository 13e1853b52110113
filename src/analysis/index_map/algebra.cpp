// Maps of ops that mix whole dimensions, and of random numbers.
#include "analysis/index_map/op_maps.h"

namespace hilo {
namespace {

// The same index, but all of the dimensions from `first` on.
IndexMap all_from(const MapQuery& query, int64_t first) {
  IndexMap map = blank_map(query);
  for (int64_t d = 0; d < query.from.rank(); ++d)
    map.index[d] = d < first ? result_index(d) : add_range(map, map.operand_dims[d]);
  return map;
}

}  // namespace

IndexMapResult map_Fft(const MapQuery& query) {
  const auto& a = query.attributes<FftAttributes>();
  return all_from(query, query.from.rank() - static_cast<int64_t>(a.fft_length.size()));
}

// Of a matrix the elements of one triangle, above the result's.
IndexMapResult map_Cholesky(const MapQuery& query) {
  IndexMap map = all_from(query, query.from.rank() - 2);
  map.is_exact = false;
  return map;
}

// The matrix, and of the other side all of the row or column that is solved for.
IndexMapResult map_TriangularSolve(const MapQuery& query) {
  const int64_t rank = query.from.rank();
  IndexMap map = all_from(query, rank - 2);
  map.is_exact = false;
  if (query.operand == 0) return map;
  const int64_t kept =
      query.attributes<TriangularSolveAttributes>().left_side ? rank - 1 : rank - 2;
  map.index[kept] = result_index(kept);
  return map;
}

namespace {

// Arrays of the batch have the result's rank, vectors are of the feature dimension; results too.
IndexMap batch_norm_map(const MapQuery& query, bool is_whole_channel) {
  IndexMap map = blank_map(query);
  const int64_t feature = query.attributes<BatchNormAttributes>().feature_index;
  const IndexExpression channel = result_index(query.output > 0 ? 0 : feature);
  const bool is_vector = query.from.rank() != query.operand_shape(0).rank();
  for (int64_t d = 0; d < query.from.rank(); ++d) {
    const bool is_feature = is_vector || d == feature;
    map.index[d] = is_feature         ? channel
                   : is_whole_channel ? add_range(map, map.operand_dims[d])
                                      : result_index(d);
  }
  return map;
}

}  // namespace

// Operands: array, scale, offset. Results: normalised, mean, variance.
IndexMapResult map_BatchNormTraining(const MapQuery& query) {
  if (query.operand > 0 && query.output > 0) return no_elements(query);
  return batch_norm_map(query, true);
}

IndexMapResult map_BatchNormInference(const MapQuery& query) {
  return batch_norm_map(query, false);
}

// Operands: array, scale, mean, variance, gradient. Results: gradients of array, scale, offset.
IndexMapResult map_BatchNormGrad(const MapQuery& query) {
  const bool is_offset = query.output == 2, is_scale = query.output == 1;
  if ((is_offset && query.operand != 4) || (is_scale && query.operand == 1))
    return no_elements(query);
  return batch_norm_map(query, true);
}

IndexMapResult map_Rng(const MapQuery& query) { return blank_map(query); }
IndexMapResult map_RngBitGenerator(const MapQuery& query) { return all_elements(query); }

}  // namespace hilo

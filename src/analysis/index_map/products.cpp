// Maps of matrix products. Result dimensions: batch, free ones of the left, free ones of the right.
#include "analysis/index_map/op_maps.h"

namespace hilo {
namespace {

// `first` result dimensions stand before the batch; those of `left_over` are none of the result.
template <class A>
IndexMap product_map(const MapQuery& query, const A& a, size_t side, int64_t first = 0,
                     std::span<const int64_t> left_over = {}) {
  IndexMap map = blank_map(query);
  map.operand_dims = query.operand_shape(side).dims;
  map.index.assign(map.operand_dims.size(), {});
  const Dims& batch = side == 0 ? a.lhs_batch_dims : a.rhs_batch_dims;
  const Dims& contracting = side == 0 ? a.lhs_contracting_dims : a.rhs_contracting_dims;
  int64_t next = first;
  for (int64_t d : batch) map.index[d] = result_index(next++);
  if (side == 1)
    next += query.operand_shape(0).rank() -
            static_cast<int64_t>(a.lhs_batch_dims.size() + a.lhs_contracting_dims.size());
  for (int64_t d : other_dimensions(map.index.size(), {batch, contracting, left_over}))
    map.index[d] = result_index(next++);
  for (int64_t d : contracting) map.index[d] = add_range(map, map.operand_dims[d], true);
  return map;
}

}  // namespace

IndexMapResult map_Dot(const MapQuery& query) {
  const auto& a = query.attributes<DotAttributes>();
  if (!a.sparsity.text.empty()) return std::unexpected("its operand is sparse");
  return product_map(query, a, query.operand);
}

// Left, right, and a scale for each block of both.
IndexMapResult map_ScaledDot(const MapQuery& query) {
  IndexMap map = product_map(query, query.attributes<DotAttributes>(), query.operand % 2);
  if (query.operand < 2) return map;
  if (query.from.is_scalar()) return blank_map(query);
  for (size_t d = 0; d < map.index.size(); ++d)
    if (query.from.dims[d] > 0)
      map.index[d] = quotient(map.index[d], map.operand_dims[d] / query.from.dims[d]);
  map.operand_dims = query.from.dims;
  return map;
}

// Which group an index of the ragged dimension falls into, the sizes decide.
IndexMapResult map_RaggedDot(const MapQuery& query) {
  const auto& a = query.attributes<RaggedDotAttributes>();
  const int64_t ragged = a.lhs_ragged_dims[0];
  if (lists_dimension(a.lhs_batch_dims, ragged))
    return query.operand == 2 ? no_elements(query) : product_map(query, a, query.operand);
  IndexMap map;
  if (query.operand == 2) {
    map = all_elements(query);
  } else if (lists_dimension(a.lhs_contracting_dims, ragged)) {
    map = product_map(query, a, query.operand, 1);
  } else {
    map = product_map(query, a, query.operand, 0, a.rhs_group_dims);
    if (query.operand == 0) return map;
    for (int64_t d : a.rhs_group_dims) map.index[d] = add_range(map, map.operand_dims[d], true);
  }
  map.is_exact = false;
  return map;
}

}  // namespace hilo

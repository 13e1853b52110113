// Maps of reductions, scans and sorts. Operands are N arrays and what begins them.
#include "analysis/index_map/op_maps.h"

namespace hilo {

IndexMapResult map_Reduce(const MapQuery& query) {
  IndexMap map = blank_map(query);
  if (query.operand >= query.count() / 2) return map;
  const Dims& reduced = query.attributes<ReduceAttributes>().dimensions;
  const Dims kept = other_dimensions(map.operand_dims.size(), {reduced});
  for (size_t k = 0; k < kept.size(); ++k)
    map.index[kept[k]] = result_index(static_cast<int64_t>(k));
  for (int64_t d : reduced) map.index[d] = add_range(map, map.operand_dims[d], true);
  map.is_exact = query.operand == query.output;
  return map;
}

// The step at index t has seen all steps before it. What the computation does with whole slices
// decides the rest.
IndexMapResult map_Scan(const MapQuery& query) {
  IndexMap map = all_elements(query);
  map.is_exact = false;
  const auto& a = query.attributes<ScanAttributes>();
  const auto carries = static_cast<size_t>(a.num_carries);
  const auto outputs = static_cast<size_t>(leaf_count(query.module.shape(query.id))) - carries;
  if (query.operand >= query.count() - carries || query.output >= outputs) return map;
  const int64_t dim = a.dimensions[0];
  const IndexExpression steps = map.index[dim];
  map.index[dim] = result_index(dim) + steps * (a.is_reverse ? 1 : -1);
  map.guards.push_back({map.index[dim], {0, map.operand_dims[dim] - 1}});
  return map;
}

namespace {

// All of one dimension.
IndexMap all_along(const MapQuery& query, int64_t dim) {
  IndexMap map = identity_map(query);
  map.index[dim] = add_range(map, map.operand_dims[dim]);
  map.is_exact = false;
  return map;
}

}  // namespace

// Values decide which element of the dimension comes where; all operands are moved alike.
IndexMapResult map_Sort(const MapQuery& query) {
  return all_along(query, query.attributes<SortAttributes>().dimensions[0]);
}

IndexMapResult map_TopK(const MapQuery& query) { return all_along(query, query.from.rank() - 1); }

}  // namespace hilo

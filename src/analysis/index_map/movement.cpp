// Maps of ops that move elements by indices that are known, and of elementwise ones.
#include <algorithm>
#include <numeric>

#include "analysis/index_map/op_maps.h"

namespace hilo {

// A scalar beside arrays, as select and clamp take it, is the same for all elements.
IndexMapResult map_elementwise(const MapQuery& query) {
  if (query.from.is_scalar()) return blank_map(query);
  return identity_map(query);
}

IndexMapResult map_Map(const MapQuery& query) { return identity_map(query); }
IndexMapResult map_Copy(const MapQuery& query) {  // of an array, or of all of a tuple
  return passes_through(query, query.leaf == query.output);
}

IndexMapResult map_Broadcast(const MapQuery& query) {
  IndexMap map = blank_map(query);
  const Dims& dims = query.attributes<DimensionsAttributes>().dimensions;
  for (size_t d = 0; d < dims.size(); ++d) map.index[d] = result_index(dims[d]);
  return map;
}

IndexMapResult map_Concatenate(const MapQuery& query) {
  IndexMap map = identity_map(query);
  const int64_t dim = query.attributes<DimensionsAttributes>().dimensions[0];
  int64_t before = 0;
  for (size_t i = 0; i < query.operand; ++i) before += query.operand_shape(i).dims[dim];
  map.index[dim] = result_index(dim) - before;
  map.guards.push_back({map.index[dim], {0, query.from.dims[dim] - 1}});
  return map;
}

// The padding value is needed outside of the operand, which no guard can say.
IndexMapResult map_Pad(const MapQuery& query) {
  IndexMap map = blank_map(query);
  if (query.operand == 1) {
    map.is_exact = false;
    return map;
  }
  const auto& padding = query.attributes<PadAttributes>().padding.dims;
  for (size_t d = 0; d < padding.size(); ++d) {
    const int64_t step = saturating_add(padding[d].interior, 1);
    const IndexExpression at = result_index(static_cast<int64_t>(d)) - padding[d].low;
    map.index[d] = quotient(at, step);
    map.guards.push_back({map.index[d], {0, query.from.dims[d] - 1}});
    map.guards.push_back({remainder(at, step), {0, 0}});
  }
  return map;
}

namespace {

// Both arrays are the same elements in row-major order of these dimensions.
void follow_order(IndexMap& map, std::span<const IndexExpression> result, const Dims& result_dims,
                  const Dims& operand_order) {
  const Dims strides = row_major_strides(result_dims);
  const IndexExpression position = linear_index(result, strides);
  Dims sizes;
  for (int64_t d : operand_order) sizes.push_back(map.operand_dims[d]);
  const Dims steps = row_major_strides(sizes);
  for (size_t k = 0; k < operand_order.size(); ++k)
    map.index[operand_order[k]] = remainder(quotient(position, steps[k]), sizes[k]);
}

Dims ascending(size_t rank) {
  Dims out(rank);
  std::iota(out.begin(), out.end(), 0);
  return out;
}

// Dimensions from the major-most to the minor-most.
Dims order_of(const Shape& shape) {
  if (!shape.has_layout) return ascending(shape.dims.size());
  return Dims(shape.layout.minor_to_major.rbegin(), shape.layout.minor_to_major.rend());
}

// Result indices in that order, and their sizes.
std::pair<std::vector<IndexExpression>, Dims> indices_in(const Dims& order, const Dims& dims) {
  std::pair<std::vector<IndexExpression>, Dims> out;
  for (int64_t d : order) {
    out.first.push_back(result_index(d));
    out.second.push_back(dims[d]);
  }
  return out;
}

IndexMap reshape_map(const MapQuery& query) {
  IndexMap map = blank_map(query);
  if (element_count(query.from) == 0) return no_elements(query);
  const auto [index, sizes] = indices_in(ascending(query.result.dims.size()), query.result.dims);
  follow_order(map, index, sizes, ascending(query.from.dims.size()));
  return map;
}

}  // namespace

IndexMapResult map_Reshape(const MapQuery& query) { return reshape_map(query); }

IndexMapResult map_DynamicReshape(const MapQuery& query) {
  return query.operand == 0 ? reshape_map(query) : no_elements(query);
}

// One element of the wider type is those of the narrower one along their last dimension.
IndexMapResult map_BitcastConvert(const MapQuery& query) {
  IndexMap map = blank_map(query);
  for (size_t d = 0; d < map.index.size(); ++d)
    map.index[d] = d < map.result_dims.size() ? result_index(static_cast<int64_t>(d))
                                              : add_range(map, map.operand_dims[d]);
  return map;
}

// The same memory. Arrays without tiles are followed through their orders of dimensions; elements
// of other widths through the wider of both.
IndexMapResult map_Bitcast(const MapQuery& query) {
  const Shape &from = query.from, &to = query.result;
  if (from.dims == to.dims && from.layout == to.layout && bits_of(from.type) == bits_of(to.type))
    return identity_map(query);
  if (!from.layout.tiles.empty() || !to.layout.tiles.empty())
    return std::unexpected("tiles of its layouts decide");
  const int64_t ratio = bits_of(from.type) / std::max(1, bits_of(to.type));
  const int64_t inverse_ratio = bits_of(to.type) / std::max(1, bits_of(from.type));
  if (saturating_multiply(element_count(from), bits_of(from.type)) !=
          saturating_multiply(element_count(to), bits_of(to.type)) ||
      (ratio == 0 && inverse_ratio == 0) || element_count(from) == 0)
    return std::unexpected("its bytes are not whole elements of both");
  IndexMap map = blank_map(query);
  const Dims order = order_of(from);
  auto [index, sizes] = indices_in(order_of(to), to.dims);
  if (inverse_ratio > 1) {
    index.push_back(add_range(map, inverse_ratio));
    sizes.push_back(inverse_ratio);
  } else if (ratio > 1) {
    const IndexExpression position = linear_index(index, row_major_strides(sizes));
    index = {quotient(position, ratio)};
    sizes = {element_count(from)};
  }
  follow_order(map, index, sizes, order);
  return map;
}

IndexMapResult map_Reverse(const MapQuery& query) {
  IndexMap map = identity_map(query);
  for (int64_t d : query.attributes<DimensionsAttributes>().dimensions)
    map.index[d] = result_index(d) * -1 + (query.from.dims[d] - 1);
  return map;
}

IndexMapResult map_Slice(const MapQuery& query) {
  IndexMap map = blank_map(query);
  const auto& dims = query.attributes<SliceAttributes>().slice.dims;
  for (size_t d = 0; d < dims.size(); ++d)
    map.index[d] = result_index(static_cast<int64_t>(d)) * dims[d].stride + dims[d].start;
  return map;
}

IndexMapResult map_Transpose(const MapQuery& query) {
  IndexMap map = blank_map(query);
  const Dims& dims = query.attributes<DimensionsAttributes>().dimensions;
  for (size_t d = 0; d < dims.size(); ++d)
    map.index[dims[d]] = result_index(static_cast<int64_t>(d));
  return map;
}

}  // namespace hilo

// Maps of ops whose indices data decide: they are symbols.
#include "analysis/index_map/op_maps.h"

namespace hilo {
namespace {

// The start of dimension d, from scalars from operand `first` on or from one vector.
IndexExpression start_of(IndexMap& map, const MapQuery& query, size_t first, size_t d,
                         int64_t last) {
  const bool is_vector = query.count() == first + 1 && query.operand_shape(first).rank() == 1;
  if (is_vector)
    return add_symbol(map, query, first, {constant_index(static_cast<int64_t>(d))}, {0, last});
  return add_symbol(map, query, first + d, {}, {0, last});
}

}  // namespace

IndexMapResult map_DynamicSlice(const MapQuery& query) {
  if (query.operand > 0) return all_elements(query);
  IndexMap map = blank_map(query);
  for (size_t d = 0; d < map.index.size(); ++d)
    map.index[d] = result_index(static_cast<int64_t>(d)) +
                   start_of(map, query, 1, d, query.from.dims[d] - query.result.dims[d]);
  return map;
}

// Of the array, what the update does not write over: more than guards can say.
IndexMapResult map_DynamicUpdateSlice(const MapQuery& query) {
  if (query.operand > 1) return all_elements(query);
  IndexMap map = identity_map(query);
  if (query.operand == 0) {
    map.is_exact = false;
    return map;
  }
  for (size_t d = 0; d < map.index.size(); ++d) {
    const IndexExpression start =
        start_of(map, query, 2, d, query.result.dims[d] - query.from.dims[d]);
    map.index[d] = result_index(static_cast<int64_t>(d)) - start;
    map.guards.push_back({map.index[d], {0, query.from.dims[d] - 1}});
  }
  return map;
}

namespace {

// The indices operand at one batch index and component; `batch` skips the index vector dimension.
std::vector<IndexExpression> index_vector(const std::vector<IndexExpression>& batch,
                                          int64_t vector_dim, size_t rank,
                                          const IndexExpression& component) {
  std::vector<IndexExpression> out = batch;
  if (vector_dim < static_cast<int64_t>(rank)) out.insert(out.begin() + vector_dim, component);
  return out;
}

// Number of a dimension of the indices among those that are not the index vector.
size_t batch_number(int64_t indices_dim, int64_t vector_dim) {
  return static_cast<size_t>(indices_dim - (indices_dim > vector_dim ? 1 : 0));
}

// The numbers of the elements of `wanted` in `all`.
std::optional<size_t> find_in(std::span<const int64_t> all, int64_t wanted) {
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i] == wanted) return i;
  return std::nullopt;
}

}  // namespace

IndexMapResult map_Gather(const MapQuery& query) {
  const auto& a = query.attributes<GatherAttributes>();
  const Shape &operand = query.operand_shape(0), &indices = query.operand_shape(1);
  IndexMap map = blank_map(query);
  std::vector<IndexExpression> batch;
  for (int64_t d : other_dimensions(map.result_dims.size(), {a.offset_dims}))
    batch.push_back(result_index(d));
  if (query.operand == 1) {
    map.index = index_vector(batch, a.index_vector_dim, indices.dims.size(), {});
    if (a.index_vector_dim < indices.rank())
      map.index[a.index_vector_dim] = add_range(map, indices.dims[a.index_vector_dim]);
    return map;
  }
  const Dims window =
      other_dimensions(operand.dims.size(), {a.collapsed_slice_dims, a.operand_batching_dims});
  for (size_t w = 0; w < window.size(); ++w) map.index[window[w]] = result_index(a.offset_dims[w]);
  for (size_t k = 0; k < a.operand_batching_dims.size(); ++k)
    map.index[a.operand_batching_dims[k]] =
        batch[batch_number(a.start_indices_batching_dims[k], a.index_vector_dim)];
  for (size_t c = 0; c < a.start_index_map.size(); ++c) {
    const int64_t d = a.start_index_map[c];
    const IndexExpression start =
        add_symbol(map, query, 1,
                   index_vector(batch, a.index_vector_dim, indices.dims.size(),
                                constant_index(static_cast<int64_t>(c))),
                   {0, operand.dims[d] - a.slice_sizes[d]});
    map.index[d] = map.index[d] + start;
  }
  return map;
}

namespace {

// What the dimensions of a scatter are.
struct ScatterDims {
  const ScatterAttributes& a;
  const Shape &array, &indices, &updates;
  Dims window;  // of the array, in the order of the updates' window dimensions
  Dims batch;   // of the updates
};

ScatterDims scatter_dims(const MapQuery& query) {
  const auto& a = query.attributes<ScatterAttributes>();
  const size_t n = query.count() / 2;
  const Shape &array = query.operand_shape(0), &updates = query.operand_shape(n + 1);
  return {a,
          array,
          query.operand_shape(n),
          updates,
          other_dimensions(array.dims.size(), {a.inserted_window_dims, a.input_batching_dims}),
          other_dimensions(updates.dims.size(), {a.update_window_dims})};
}

// An index for each batch dimension: the array's own where it is a batching one, else any.
std::vector<IndexExpression> batch_indices(IndexMap& map, const MapQuery& query,
                                           const ScatterDims& s) {
  const bool combines = find_combiner(query.module, s.a.to_apply).has_value();
  std::vector<IndexExpression> out(s.batch.size());
  std::vector<bool> is_known(s.batch.size());
  for (size_t k = 0; k < s.a.input_batching_dims.size(); ++k) {
    const size_t at = batch_number(s.a.scatter_indices_batching_dims[k], s.a.index_vector_dim);
    out[at] = result_index(s.a.input_batching_dims[k]);
    is_known[at] = true;
  }
  for (size_t k = 0; k < out.size(); ++k)
    if (!is_known[k]) out[k] = add_range(map, s.updates.dims[s.batch[k]], combines);
  return out;
}

// The updates whose windows lie over the element: all batch indices, where the start of the window
// is as near before the element as the window is wide.
IndexMap updates_map(const MapQuery& query, const ScatterDims& s, size_t n) {
  IndexMap map = blank_map(query);
  const std::vector<IndexExpression> batch = batch_indices(map, query, s);
  for (size_t k = 0; k < batch.size(); ++k) map.index[s.batch[k]] = batch[k];
  for (int64_t d = 0; d < s.array.rank(); ++d) {
    if (lists_dimension(s.a.input_batching_dims, d)) continue;
    const auto w = find_in(s.window, d);
    const auto component = find_in(s.a.scatter_dims_to_operand_dims, d);
    const int64_t width = w ? s.updates.dims[s.a.update_window_dims[*w]] : 1;
    IndexExpression at = result_index(d);
    if (component)
      at = at - add_symbol(map, query, n,
                           index_vector(batch, s.a.index_vector_dim, s.indices.dims.size(),
                                        constant_index(static_cast<int64_t>(*component))),
                           {0, s.array.dims[d] - width}, false);
    if (w) map.index[s.a.update_window_dims[*w]] = at;
    map.guards.push_back({at, {0, width - 1}});
  }
  return map;
}

}  // namespace

// All arrays at the element are combined, with the updates whose windows lie over it.
IndexMapResult map_Scatter(const MapQuery& query) {
  const size_t n = query.count() / 2;
  const ScatterDims s = scatter_dims(query);
  if (query.operand > n) return updates_map(query, s, n);
  if (query.operand == n) {
    IndexMap map = blank_map(query);
    map.index =
        index_vector(batch_indices(map, query, s), s.a.index_vector_dim, s.indices.dims.size(), {});
    if (s.a.index_vector_dim < s.indices.rank())
      map.index[s.a.index_vector_dim] = add_range(map, s.indices.dims[s.a.index_vector_dim]);
    return map;
  }
  IndexMap map = identity_map(query);
  map.is_exact = query.operand == query.output;
  return map;
}

}  // namespace hilo

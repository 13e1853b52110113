// Maps of collectives: the element of the operand on whichever devices of the group take part.
#include "analysis/analysis.h"
#include "analysis/index_map/op_maps.h"

namespace hilo {
namespace {

// The number of the device in its group, or of the one that sends.
IndexExpression add_device(IndexMap& map, int64_t count) {
  map.symbols.push_back({{}, {}, {0, count - 1}, true});
  return symbol_index(std::ssize(map.symbols) - 1);
}

IndexMapResult same_array(const MapQuery& query, size_t output) {
  return passes_through(query, query.operand == output);
}

// The results of the group's devices stand side by side.
IndexMapResult gathered(const MapQuery& query, size_t output) {
  if (query.operand != output) return no_elements(query);
  IndexMap map = identity_map(query);
  const int64_t dim = query.attributes<AllGatherAttributes>().dimensions[0];
  const int64_t size = map.operand_dims[dim];
  if (size > 0) map.index[dim] = remainder(result_index(dim), size);
  return map;
}

// Of a start: operands, results, contexts; `of_result` maps the results.
IndexMapResult started(const MapQuery& query,
                       IndexMapResult (*of_result)(const MapQuery&, size_t output)) {
  const size_t n = query.count();
  if (query.output < n) return same_array(query, query.output);
  return query.output < 2 * n ? of_result(query, query.output - n) : no_elements(query);
}

IndexMapResult of_started(const MapQuery& query) {
  return passes_through(query,
                        query.leaf == leaves_before(query.operand_shape(0), 1) + query.output);
}

bool is_in_place(const MapQuery& query) {
  return !query.attributes<CollectivePermuteAttributes>().slice_sizes.lists.empty();
}

}  // namespace

IndexMapResult map_AllGather(const MapQuery& query) { return gathered(query, query.output); }
IndexMapResult map_AllGatherStart(const MapQuery& query) { return started(query, gathered); }
IndexMapResult map_AllGatherDone(const MapQuery& query) { return of_started(query); }

IndexMapResult map_AllReduce(const MapQuery& query) { return same_array(query, query.output); }
IndexMapResult map_AllReduceStart(const MapQuery& query) { return same_array(query, query.output); }
IndexMapResult map_AllReduceDone(const MapQuery& query) {
  return passes_through(query, query.leaf == query.output);
}

// Slice number k of the result is what device k of the group has for this one; the tuple form has
// an operand for each device, of which the device's number chooses one.
IndexMapResult map_AllToAll(const MapQuery& query) {
  const auto& dims = query.attributes<AllToAllAttributes>().dimensions;
  IndexMap map = identity_map(query);
  if (!dims) {
    map.is_exact = false;
    return map;
  }
  const int64_t dim = dims->at(0), group = collective_bytes(query.module, query.id)->group;
  const int64_t size = map.operand_dims[dim] / std::max<int64_t>(1, group);
  if (size == 0) return no_elements(query);
  map.index[dim] = remainder(result_index(dim), size) + add_device(map, group) * size;
  return map;
}

IndexMapResult map_ReduceScatter(const MapQuery& query) {
  if (query.operand != query.output) return no_elements(query);
  IndexMap map = identity_map(query);
  const int64_t dim = query.attributes<ReduceScatterAttributes>().dimensions[0];
  const int64_t size = map.result_dims[dim];
  if (size > 0)
    map.index[dim] = result_index(dim) + add_device(map, map.operand_dims[dim] / size) * size;
  return map;
}

IndexMapResult map_CollectivePermute(const MapQuery& query) {
  if (is_in_place(query)) return std::unexpected("offsets on other devices decide");
  return same_array(query, query.output);
}
IndexMapResult map_CollectivePermuteStart(const MapQuery& query) {
  if (is_in_place(query)) return std::unexpected("offsets on other devices decide");
  return started(query, same_array);
}
IndexMapResult map_CollectivePermuteDone(const MapQuery& query) { return of_started(query); }

// The last operand of one with a dynamic root says who sends.
IndexMapResult map_CollectiveBroadcast(const MapQuery& query) {
  const bool is_dynamic = query.attributes<CollectiveBroadcastAttributes>().has_dynamic_root;
  if (is_dynamic && query.operand + 1 == query.count()) return all_elements(query);
  return same_array(query, query.output);
}

// Rows of the first dimension go where offsets on all devices say, over the second operand.
IndexMapResult map_RaggedAllToAll(const MapQuery& query) {
  IndexMap map = query.operand < 2 ? identity_map(query) : all_elements(query);
  if (query.operand == 0 && !map.index.empty()) map.index[0] = add_range(map, map.operand_dims[0]);
  map.is_exact = false;
  return map;
}

}  // namespace hilo

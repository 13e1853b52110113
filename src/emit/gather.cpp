#include <algorithm>

#include "emit/op_functions.h"

namespace hilo {
namespace {

bool has(const Dims& dims, size_t dim) {
  return std::ranges::count(dims, static_cast<int64_t>(dim)) > 0;
}

}  // namespace

// XLA's operation semantics, "Gather": the result's dimensions outside offset_dims say which slice,
// the others where in it. Starts are moved so that the slice lies inside.
llvm::Value* element_Gather(Elements& e, InstructionId id, const Index& index, size_t) {
  Builder& b = e.b;
  const auto& g = e.module.attributes<GatherAttributes>(id);
  const Dims& dims = e.module.shape(e.module.operand(id, 0)).dims;
  const Shape& starts = e.module.shape(e.module.operand(id, 1));
  std::vector<llvm::Value*> batch, offset;
  for (size_t d = 0; d < index.dims().size(); ++d)
    (has(g.offset_dims, d) ? offset : batch).push_back(index.at(b, d));
  const auto start_at = [&](int64_t component) {
    std::vector<llvm::Value*> at;
    size_t next = 0;
    for (size_t d = 0; d < starts.dims.size(); ++d)
      at.push_back(static_cast<int64_t>(d) == g.index_vector_dim ? int64(b, component)
                                                                 : batch[next++]);
    return as_index(b, starts.type, e.operand(id, 1, Index(b, starts.dims, std::move(at))));
  };
  std::vector<llvm::Value*> at;
  size_t next_offset = 0;
  for (size_t d = 0; d < dims.size(); ++d) {
    const bool batching = has(g.operand_batching_dims, d);
    llvm::Value* place =
        batching || has(g.collapsed_slice_dims, d) ? int64(b, 0) : offset[next_offset++];
    const auto mapped = std::ranges::find(g.start_index_map, static_cast<int64_t>(d));
    if (mapped != g.start_index_map.end()) {
      llvm::Value* start = clamp_index(b, start_at(mapped - g.start_index_map.begin()), 0,
                                       dims[d] - g.slice_sizes[d]);
      place = add_index(b, place, start);
    } else if (batching) {
      const auto which = std::ranges::find(g.operand_batching_dims, static_cast<int64_t>(d)) -
                         g.operand_batching_dims.begin();
      const int64_t dim = g.start_indices_batching_dims[static_cast<size_t>(which)];
      place = batch[static_cast<size_t>(dim > g.index_vector_dim ? dim - 1 : dim)];
    }
    at.push_back(place);
  }
  return e.operand(id, 0, Index(b, dims, std::move(at)));
}

}  // namespace hilo

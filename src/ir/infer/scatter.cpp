#include "ir/infer/infer.h"

namespace hilo {
namespace {

Result<void> need_sound_dims(const ScatterAttributes& a, const Shape& into, const Shape& indices) {
  HILO_DO(need_distinct("inserted_window_dims", a.inserted_window_dims, into.rank()));
  HILO_DO(need_ascending("inserted_window_dims", a.inserted_window_dims));
  HILO_DO(need_distinct("input_batching_dims", a.input_batching_dims, into.rank()));
  HILO_DO(
      need_distinct("scatter_dims_to_operand_dims", a.scatter_dims_to_operand_dims, into.rank()));
  HILO_DO(need_distinct("scatter_indices_batching_dims", a.scatter_indices_batching_dims,
                        indices.rank()));
  HILO_DO(need_in_range("index_vector_dim", a.index_vector_dim, 0, indices.rank() + 1));
  const int64_t width = a.index_vector_dim == indices.rank() ? 1 : indices.dims[a.index_vector_dim];
  if (static_cast<int64_t>(a.scatter_dims_to_operand_dims.size()) != width)
    return misfit("expected {} dimensions in scatter_dims_to_operand_dims, found {}", width,
                  braced(a.scatter_dims_to_operand_dims));
  const Dims& batching = a.scatter_indices_batching_dims;
  if (a.input_batching_dims.size() != batching.size())
    return misfit("input_batching_dims {} and scatter_indices_batching_dims {} differ in number",
                  braced(a.input_batching_dims), braced(batching));
  for (size_t i = 0; i < batching.size(); ++i) {
    if (batching[i] == a.index_vector_dim)
      return misfit("index_vector_dim {} is in scatter_indices_batching_dims", batching[i]);
    if (indices.dims[batching[i]] != into.dims[a.input_batching_dims[i]])
      return misfit("batching dimension {} of {} is not as large as {} of {}", batching[i],
                    text(indices), a.input_batching_dims[i], text(into));
    if (contains(a.inserted_window_dims, a.input_batching_dims[i]) ||
        contains(a.scatter_dims_to_operand_dims, a.input_batching_dims[i]))
      return misfit("the batching dimension {} is an inserted or scattered one too",
                    a.input_batching_dims[i]);
  }
  const size_t window =
      a.update_window_dims.size() + a.inserted_window_dims.size() + a.input_batching_dims.size();
  if (window != into.dims.size())
    return misfit("window, inserted and batching dimensions are {}, the operand {} has {}", window,
                  text(into), into.rank());
  return {};
}

// Window dimensions of the updates fit the operand, the others are those of the indices.
Result<void> need_sound_updates(const ScatterAttributes& a, const Shape& into, const Shape& indices,
                                const Shape& updates) {
  const Shape outer = a.index_vector_dim == indices.rank()
                          ? indices
                          : drop_dims(indices, std::span(&a.index_vector_dim, 1));
  const size_t rank = outer.dims.size() + a.update_window_dims.size();
  if (updates.dims.size() != rank)
    return misfit("expected updates of {} dimensions, found {}", rank, text(updates));
  HILO_DO(need_distinct("update_window_dims", a.update_window_dims, updates.rank()));
  HILO_DO(need_ascending("update_window_dims", a.update_window_dims));
  int64_t window = 0, batch = 0;
  for (int64_t i = 0; i < updates.rank(); ++i) {
    if (!contains(a.update_window_dims, i)) {
      if (updates.dims[i] != outer.dims[batch])
        return misfit("dimension {} of the updates {} is not as in the indices {}", i,
                      text(updates), text(indices));
      ++batch;
      continue;
    }
    while (contains(a.inserted_window_dims, window) || contains(a.input_batching_dims, window))
      ++window;
    if (updates.dims[i] > into.dims[window])
      return misfit("dimension {} of the updates {} is larger than dimension {} of {}", i,
                    text(updates), window, text(into));
    ++window;
  }
  return {};
}

}  // namespace

// N operands, the indices, N updates.
Result<Shape> infer_Scatter(const Given& given) {
  HILO_DO(need_arrays(given));
  const size_t n = given.count() / 2;
  if (given.count() < 3 || given.count() % 2 == 0)
    return misfit("expected 2N+1 operands, found {}", given.count());
  const auto& a = given.attributes<ScatterAttributes>();
  const Shape& indices = given.operand(n);
  if (!is_integral(indices.type))
    return misfit("expected integer scatter indices, found {}", text(indices));
  std::vector<Shape> out;
  for (size_t i = 0; i < n; ++i) {
    const Shape& into = given.operand(i);
    const Shape& updates = given.operand(n + 1 + i);
    if (into.dims != given.operand(0).dims || updates.dims != given.operand(n + 1).dims)
      return misfit("operands and updates {} differ in dimensions from the first", i);
    if (into.type != updates.type)
      return misfit("operand {} and its updates have different element types: {} and {}", i,
                    text(into), text(updates));
    HILO_DO(need_sound_dims(a, into, indices));
    HILO_DO(need_sound_updates(a, into, indices, updates));
    out.push_back(into);
  }
  return n == 1 ? out[0] : Shape::tuple(std::move(out));
}

}  // namespace hilo

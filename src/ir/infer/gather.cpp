#include "ir/infer/infer.h"

namespace hilo {
namespace {

// Every operand dimension is an offset, a collapsed or a batching one.
Result<void> need_sound_operand_dims(const GatherAttributes& a, const Shape& from) {
  const int64_t rank = from.rank();
  HILO_DO(need_distinct("collapsed_slice_dims", a.collapsed_slice_dims, rank));
  HILO_DO(need_ascending("collapsed_slice_dims", a.collapsed_slice_dims));
  HILO_DO(need_distinct("operand_batching_dims", a.operand_batching_dims, rank));
  HILO_DO(need_ascending("operand_batching_dims", a.operand_batching_dims));
  HILO_DO(need_distinct("start_index_map", a.start_index_map, rank));
  for (int64_t dim : a.operand_batching_dims) {
    if (contains(a.collapsed_slice_dims, dim))
      return misfit("dimension {} is in collapsed_slice_dims and operand_batching_dims", dim);
    if (contains(a.start_index_map, dim))
      return misfit("dimension {} is in start_index_map and operand_batching_dims", dim);
  }
  if (a.slice_sizes.size() != from.dims.size())
    return misfit("expected {} slice_sizes for {}, found {}", rank, text(from),
                  braced(a.slice_sizes));
  for (int64_t i = 0; i < rank; ++i) {
    if (a.slice_sizes[i] < 0 || a.slice_sizes[i] > from.dims[i])
      return misfit("slice size {} is not within dimension {} of {}", a.slice_sizes[i], i,
                    text(from));
    const bool single = contains(a.collapsed_slice_dims, i) || contains(a.operand_batching_dims, i);
    if (single && a.slice_sizes[i] > 1)
      return misfit(
          "expected a slice size of at most 1 at the collapsed or batching dimension {}, found {}",
          i, a.slice_sizes[i]);
  }
  const size_t offsets =
      a.offset_dims.size() + a.collapsed_slice_dims.size() + a.operand_batching_dims.size();
  if (offsets != from.dims.size())
    return misfit("offset, collapsed and batching dimensions are {}, the operand {} has {}",
                  offsets, text(from), rank);
  return {};
}

// The start indices without their index vector, and how they batch.
Result<Shape> batch_of(const GatherAttributes& a, const Shape& from, const Shape& indices) {
  HILO_DO(need_in_range("index_vector_dim", a.index_vector_dim, 0, indices.rank() + 1));
  const bool implicit = a.index_vector_dim == indices.rank();
  const int64_t width = implicit ? 1 : indices.dims[a.index_vector_dim];
  if (static_cast<int64_t>(a.start_index_map.size()) != width)
    return misfit("expected {} dimensions in start_index_map, found {}", width,
                  braced(a.start_index_map));
  const Dims& batching = a.start_indices_batching_dims;
  HILO_DO(need_distinct("start_indices_batching_dims", batching, indices.rank()));
  if (batching.size() != a.operand_batching_dims.size())
    return misfit("operand_batching_dims {} and start_indices_batching_dims {} differ in number",
                  braced(a.operand_batching_dims), braced(batching));
  for (size_t i = 0; i < batching.size(); ++i) {
    if (batching[i] == a.index_vector_dim)
      return misfit("index_vector_dim {} is in start_indices_batching_dims", batching[i]);
    if (indices.dims[batching[i]] != from.dims[a.operand_batching_dims[i]])
      return misfit("batching dimension {} of {} is not as large as {} of {}", batching[i],
                    text(indices), a.operand_batching_dims[i], text(from));
  }
  if (implicit) return make_array(indices.type, indices.dims, indices.dynamic);
  return drop_dims(indices, std::span(&a.index_vector_dim, 1));
}

}  // namespace

Result<Shape> infer_Gather(const Given& given) {
  HILO_DO(need_arrays(given));
  const auto& a = given.attributes<GatherAttributes>();
  const Shape& from = given.operand(0);
  const Shape& indices = given.operand(1);
  if (!is_integral(indices.type))
    return misfit("expected integer start indices, found {}", text(indices));
  HILO_DO(need_sound_operand_dims(a, from));
  HILO_TRY(const Shape batch, batch_of(a, from, indices));
  const int64_t rank = batch.rank() + static_cast<int64_t>(a.offset_dims.size());
  HILO_DO(need_distinct("offset_dims", a.offset_dims, rank));
  HILO_DO(need_ascending("offset_dims", a.offset_dims));
  Dims dims;
  std::vector<bool> dynamic;
  int64_t slice = 0, outer = 0;
  for (int64_t i = 0; i < rank; ++i) {
    if (contains(a.offset_dims, i)) {
      while (contains(a.collapsed_slice_dims, slice) || contains(a.operand_batching_dims, slice))
        ++slice;
      dims.push_back(a.slice_sizes[slice]);
      dynamic.push_back(from.is_dynamic(slice) && a.slice_sizes[slice] == from.dims[slice]);
      ++slice;
    } else {
      dims.push_back(batch.dims[outer]);
      dynamic.push_back(batch.is_dynamic(outer++));
    }
  }
  return make_array(from.type, std::move(dims), std::move(dynamic));
}

}  // namespace hilo

// gather: for each index vector a slice of the operand, whose start is clamped so that the slice
// lies inside. Offset dimensions of the result run over the slice, the others over the indices.
// Of an array without elements, whose collapsed dimensions' slices are empty, the result is zero.
#include <algorithm>
#include <cstring>

#include "eval/call.h"
#include "eval/index_vectors.h"
#include "eval/positions.h"

namespace hilo {
namespace {

// Copies one slice; `bytes` an element.
void copy_slice(const std::byte* from, std::byte* to, std::span<const CopyRun> runs,
                int64_t bytes) {
  if (runs.size() == 1 && runs[0].count == 1 && bytes == 4) {
    std::memcpy(to + runs[0].to * 4, from + runs[0].from * 4, 4);
    return;
  }
  for (const CopyRun& run : runs)
    std::memcpy(to + run.to * bytes, from + run.from * bytes, run.count * bytes);
}

// Where slices are read and written: positions of the result's batch, runs inside a slice, and how
// far a slice may begin along each dimension.
struct Slices {
  Dims targets, starts, strides, last;
  std::vector<CopyRun> runs;

  int64_t start_of(int64_t row) const {
    const size_t rank = strides.size();
    int64_t at = 0;
    for (size_t d = 0; d < rank; ++d)
      at += std::clamp<int64_t>(starts[row * rank + d], 0, last[d]) * strides[d];
    return at;
  }
};

Slices find_slices(const GatherAttributes& a, const Literal& operand, const Literal& indices,
                   const Dims& out_dims) {
  const Dims& dims = operand.shape().dims;
  const int64_t rank = dims.size();
  const IndexVectors vectors{indices, a.index_vector_dim, a.start_index_map,
                             a.operand_batching_dims, a.start_indices_batching_dims};
  Dims hidden = a.collapsed_slice_dims;
  hidden.insert(hidden.end(), a.operand_batching_dims.begin(), a.operand_batching_dims.end());
  const Dims window = other_dims(rank, hidden), out_strides = row_major_strides(out_dims);
  const Dims batch = other_dims(out_dims.size(), a.offset_dims);
  Slices out;
  out.strides = row_major_strides(dims);
  out.runs = copy_runs(positions(pick(a.slice_sizes, window), pick(out.strides, window)),
                       positions(pick(out_dims, a.offset_dims), pick(out_strides, a.offset_dims)));
  out.targets = positions(pick(out_dims, batch), pick(out_strides, batch));
  out.starts = vectors.starts(rank);
  for (int64_t d = 0; d < rank; ++d)
    out.last.push_back(std::max<int64_t>(0, operand.size(d) - a.slice_sizes[d]));
  return out;
}

}  // namespace

Result<Literal> evaluate_Gather(Call& call) {
  const Literal& operand = call.operands[0];
  Literal out = call.make();
  if (out.count() == 0) return out;
  if (operand.count() == 0) {
    std::ranges::fill(out.mutable_raw(), std::byte{});
    return out;
  }
  const Slices slices =
      find_slices(call.attributes<GatherAttributes>(), operand, call.operands[1], out.shape().dims);
  const int64_t bytes = storage_bytes(operand.type());
  const std::byte* from = operand.raw().data();
  std::byte* to = out.mutable_raw().data();
  call.parallel(slices.targets.size(), 256, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
      copy_slice(from + slices.start_of(row) * bytes, to + slices.targets[row] * bytes, slices.runs,
                 bytes);
  });
  return out;
}

}  // namespace hilo

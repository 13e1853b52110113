// dynamic-slice and dynamic-update-slice.
#include <algorithm>

#include "eval/index_vectors.h"
#include "eval/storage.h"
#include "eval/strided_copy.h"

namespace hilo {
namespace {

// Start indices are clamped so that the region lies inside. They are scalars from operand `first`
// on, or one vector.
int64_t clamped_start(const Call& call, size_t first, const Dims& outer, const Dims& inner) {
  const Dims strides = row_major_strides(outer);
  const bool is_vector =
      call.operands.size() == first + 1 && call.operands[first].shape().rank() == 1;
  int64_t position = 0;
  for (size_t i = 0; i < outer.size(); ++i) {
    const Literal& index = call.operands[is_vector ? first : first + i];
    const int64_t start = IndexVectors::start_at(index, is_vector ? static_cast<int64_t>(i) : 0);
    position += std::clamp<int64_t>(start, 0, outer[i] - inner[i]) * strides[i];
  }
  return position;
}

}  // namespace

Result<Literal> evaluate_DynamicSlice(Call& call) {
  const Literal& operand = call.operands[0];
  const int64_t from = clamped_start(call, 1, operand.shape().dims, call.shape().dims);
  return copy_to_dense(call, operand, row_major_strides(operand.shape().dims), from);
}

// In place when nobody else holds the operand.
Result<Literal> evaluate_DynamicUpdateSlice(Call& call) {
  Literal out = writable(call, std::move(call.operands[0]));
  const Literal& update = call.operands[1];
  const Dims& dims = update.shape().dims;
  const int64_t to = clamped_start(call, 2, out.shape().dims, dims);
  copy_strided(call, storage_bytes(out.type()), update.raw().data(), out.mutable_raw().data(),
               {dims, row_major_strides(dims), row_major_strides(out.shape().dims), 0, to});
  return out;
}

}  // namespace hilo

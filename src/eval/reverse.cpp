#include "eval/strided_copy.h"

namespace hilo {

// result[i] = operand[j] with j[d] = size(d) - 1 - i[d] in `dimensions`
Result<Literal> evaluate_Reverse(Call& call) {
  const Literal& operand = call.operands[0];
  Dims strides = row_major_strides(operand.shape().dims), same;
  int64_t from = 0;
  for (int64_t dim : call.attributes<DimensionsAttributes>().dimensions) {
    from += (operand.size(dim) - 1) * strides[dim];
    strides[dim] = -strides[dim];
  }
  if (operand.dynamic_sizes().empty()) return copy_to_dense(call, operand, strides, from);
  // Only the elements that are there turn round; the rest stays as it is.
  Literal out = operand;
  copy_strided(call, storage_bytes(out.type()), operand.raw().data(), out.mutable_raw().data(),
               {operand.dynamic_sizes(), strides, row_major_strides(out.shape().dims), from, 0});
  return out;
}

}  // namespace hilo

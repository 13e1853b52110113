#include "eval/strided_copy.h"

namespace hilo {

// result[i] = operand[start + i * stride]
Result<Literal> evaluate_Slice(Call& call) {
  const Literal& operand = call.operands[0];
  Dims strides = row_major_strides(operand.shape().dims);
  const auto& dims = call.attributes<SliceAttributes>().slice.dims;
  int64_t from = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    from += dims[i].start * strides[i];
    strides[i] *= dims[i].stride;
  }
  return copy_to_dense(call, operand, strides, from);
}

}  // namespace hilo

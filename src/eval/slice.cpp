#include "eval/convert.h"
#include "eval/strided_copy.h"

namespace hilo {

// result[i] = operand[start + i * stride]; in TPU modules also rounded to another floating type.
Result<Literal> evaluate_Slice(Call& call) {
  const Literal operand = converted(call, call.operands[0], call.held(call.shape().type));
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

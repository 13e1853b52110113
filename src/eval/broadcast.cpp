#include "eval/strided_copy.h"

namespace hilo {

// result[i] = operand[i[dimensions[0]], i[dimensions[1]], ...]
Result<Literal> evaluate_Broadcast(Call& call) {
  const Literal& operand = call.operands[0];
  const Dims& dimensions = call.attributes<DimensionsAttributes>().dimensions;
  const Dims strides = row_major_strides(operand.shape().dims);
  Dims from_strides(call.shape().dims.size(), 0), from_dims(call.shape().dims.size(), -1);
  for (size_t i = 0; i < dimensions.size(); ++i) {
    from_strides[dimensions[i]] = strides[i];
    from_dims[dimensions[i]] = static_cast<int64_t>(i);
  }
  Literal out = copy_to_dense(call, operand, from_strides, 0);
  keep_dynamic_sizes(operand, from_dims, out);
  return out;
}

}  // namespace hilo

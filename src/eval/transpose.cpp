#include "eval/strided_copy.h"

namespace hilo {

// result[i0, i1, ...] = operand[j] with j[dimensions[k]] = ik
Result<Literal> evaluate_Transpose(Call& call) {
  const Literal& operand = call.operands[0];
  const Dims& dimensions = call.attributes<DimensionsAttributes>().dimensions;
  const Dims strides = row_major_strides(operand.shape().dims);
  Dims from_strides;
  for (int64_t dim : dimensions) from_strides.push_back(strides[dim]);
  Literal out = copy_to_dense(call, operand, from_strides, 0);
  keep_dynamic_sizes(operand, dimensions, out);
  return out;
}

}  // namespace hilo

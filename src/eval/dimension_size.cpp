#include <algorithm>

#include "eval/call.h"

namespace hilo {

// As XLA takes it, a dimension that the text does not mark has the size that stands there.
Result<Literal> evaluate_GetDimensionSize(Call& call) {
  const int64_t dim = call.attributes<DimensionsAttributes>().dimensions[0];
  const Shape& stated = call.module.shape(call.module.operand(call.id, 0));
  if (!stated.is_dynamic(dim))
    return Literal::scalar<int32_t>(static_cast<int32_t>(stated.dims[dim]));
  return Literal::scalar<int32_t>(static_cast<int32_t>(call.operands[0].size(dim)));
}

// Elements stay where they are; what lies beyond the size no longer counts.
Result<Literal> evaluate_SetDimensionSize(Call& call) {
  const int64_t dim = call.attributes<DimensionsAttributes>().dimensions[0];
  const int64_t bound = call.operands[0].shape().dims[dim], size = call.operands[1].integer_at(0);
  if (size < 0 || size > bound)
    return call.error(ErrorKind::Evaluation, fmt::format("set-dimension-size: size {} does not lie "
                                                         "in [0, {}]",
                                                         size, bound));
  HILO_TRY(Literal out, call.with_shape(call.operands[0], call.result_shape()));
  out.set_size(dim, size);
  return out;
}

}  // namespace hilo

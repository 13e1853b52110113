#include "eval/dot.h"
#include "eval/values.h"

namespace hilo {
namespace {

// The scale of each element: along each dimension, `scale` holds one value for a block of
// equal size; a scalar scale means none.
template <class T>
Result<Literal> dequantized(const Call& call, const Literal& operand, const Literal& scale) {
  if (scale.shape().is_scalar()) return operand;
  const Dims& dims = operand.shape().dims;
  const Dims& blocks = scale.shape().dims;
  for (size_t d = 0; d < dims.size(); ++d)
    if (blocks.size() != dims.size() || blocks[d] == 0 || dims[d] % blocks[d] != 0)
      return call.error(ErrorKind::Shape,
                        "scaled-dot: each dimension of a scale must divide the operand's, found " +
                            to_string(scale.shape()) + " for " + to_string(operand.shape()));
  Literal out = call.make_held(Shape::array(element_type<T>, dims));
  const std::vector<T> values = values_of<T>(operand), scales = values_of<T>(scale);
  const Dims strides = row_major_strides(blocks);
  Dims index(dims.size());
  auto result = out.mutable_data<T>();
  for (size_t i = 0; i < result.size(); ++i) {
    int64_t at = 0;
    for (size_t d = 0; d < dims.size(); ++d) at += index[d] * blocks[d] / dims[d] * strides[d];
    result[i] = values[i] * scales[at];
    next_index(index, dims);
  }
  return out;
}

template <class T>
Result<Literal> scaled_dot(Call& call) {
  HILO_TRY(const Literal lhs, dequantized<T>(call, call.operands[0], call.operands[2]));
  HILO_TRY(const Literal rhs, dequantized<T>(call, call.operands[1], call.operands[3]));
  Literal out = call.make();
  dot(lhs, rhs, dot_dims(call.attributes<DotAttributes>()), out, MatmulPrecision::F32, call);
  return out;
}

}  // namespace

Result<Literal> evaluate_ScaledDot(Call& call) {
  return call.ideal() ? scaled_dot<double>(call) : scaled_dot<float>(call);
}

}  // namespace hilo

#include "eval/custom_call_epilogue.h"

#include <cmath>

namespace hilo {

StepValue times(Steps& steps, StepValue value, double factor) {
  if (factor == 1) return value;
  const Shape shape = value.shape;
  return steps.binary(Op::Multiply, std::move(value), steps.scalar(factor, shape));
}

StepValue multiply_by(Steps& steps, StepValue value, StepValue scalar) {
  const Shape shape = value.shape;
  scalar = steps.reshape(steps.convert(std::move(scalar), shape.type), {});
  return steps.binary(Op::Multiply, std::move(value),
                      steps.broadcast(std::move(scalar), shape, {}));
}

StepValue relu(Steps& steps, StepValue x) {
  const Shape shape = x.shape;
  return steps.binary(Op::Maximum, std::move(x), steps.scalar(0, shape));
}

namespace {

// x/2 (1 + y)
StepValue half_of(Steps& steps, const StepValue& x, StepValue y) {
  y = steps.binary(Op::Add, std::move(y), steps.scalar(1, x.shape));
  return steps.binary(Op::Multiply, times(steps, x, 0.5), std::move(y));
}

}  // namespace

StepValue gelu_tanh(Steps& steps, const StepValue& x) {
  StepValue cube = steps.binary(Op::Multiply, x, steps.binary(Op::Multiply, x, x));
  StepValue inner = steps.binary(Op::Add, x, times(steps, std::move(cube), 0.044715));
  return half_of(steps, x,
                 steps.unary(Op::Tanh, times(steps, std::move(inner), 0.7978845608028654)));
}

StepValue gelu_erf(Steps& steps, const StepValue& x) {
  return half_of(steps, x, steps.unary(Op::Erf, times(steps, x, std::sqrt(0.5))));
}

StepValue broadcast_right(Steps& steps, StepValue value, const Shape& shape) {
  const Dims dims = value.shape.dims;
  const int64_t hidden = shape.rank() - std::ssize(dims);
  Dims kept, places;
  for (int64_t d = 0; d < std::ssize(dims); ++d) {
    if (dims[d] == 1) continue;
    kept.push_back(dims[d]);
    places.push_back(std::max<int64_t>(0, hidden + d));
  }
  if (hidden < 0 && std::ssize(kept) > shape.rank())
    steps.fail(ErrorKind::Shape, "an operand has more dimensions than the result");
  return steps.broadcast(steps.reshape(std::move(value), std::move(kept)), shape,
                         std::move(places));
}

StepValue saturate(Steps& steps, StepValue value, ElementType type) {
  const bool wide = type == ElementType::F8E5M2 || type == ElementType::F8E5M2FNUZ;
  const double limit = wide ? 57344 : type == ElementType::F8E4M3FNUZ ? 240 : 448;
  const Shape shape = value.shape;
  value = steps.op(Op::Clamp, shape,
                   {steps.scalar(-limit, shape), std::move(value), steps.scalar(limit, shape)});
  return steps.convert(std::move(value), type);
}

double largest_magnitude(const StepValue& value) {
  double out = 0;
  for (int64_t i = 0; value.literal.has_value() && i < value.literal.count(); ++i)
    out = std::max(out, std::abs(value.literal.number_at(i)));
  return out;
}

}  // namespace hilo

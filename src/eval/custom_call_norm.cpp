// Layer norms: "Layer normalization", Ba et al., 2016. References: CudnnNormBackendConfig in
// xla/service/gpu/backend_configs.proto.
#include "eval/custom_call_norm.h"

#include "eval/backend_config.h"
#include "eval/custom_call_epilogue.h"

namespace hilo {
namespace {

// Sums along a dimension of [n, m].
StepValue sums(Steps& steps, StepValue x, int64_t dim) {
  DotAttributes attributes;
  attributes.lhs_contracting_dims = {dim}, attributes.rhs_contracting_dims = {0};
  const Shape shape = with_dims(x.shape, {x.shape.dims[1 - dim]});
  StepValue ones = steps.scalar(1, with_dims(x.shape, {x.shape.dims[dim]}));
  return steps.op(Op::Dot, shape, {std::move(x), std::move(ones)}, attributes);
}

// [n, rest...] as [n, m], in f32.
StepValue as_rows(Steps& steps, StepValue x) {
  if (x.shape.rank() < 1 || element_count(x.shape) == 0) {
    steps.fail(ErrorKind::Shape, "expected an array with elements");
    return {{}, Shape::array(ElementType::F32, {1, 1})};
  }
  const int64_t n = x.shape.dims[0], m = element_count(x.shape) / n;
  return steps.reshape(steps.convert(std::move(x), ElementType::F32), {n, m});
}

StepValue as_vector(Steps& steps, StepValue x) {
  const int64_t count = element_count(x.shape);
  return steps.reshape(steps.convert(std::move(x), ElementType::F32), {count});
}

// As result i states it.
StepValue as_stated(Steps& steps, const Call& call, StepValue value, size_t i) {
  const Shape& stated = call.shape().elements[i];
  return steps.reshape(steps.convert(std::move(value), stated.type), stated.dims);
}

Result<Literal> forward(Call& call, double epsilon, bool train) {
  const size_t arrays = train ? 3 : 1;
  if (call.operands.size() < 3 || call.shape().elements.size() < arrays)
    return call.error(ErrorKind::Shape, "expected the input, its scale and its bias");
  Steps steps(call);
  NormalizedRows rows = normalize_rows(steps, as_rows(steps, steps.operand(0)), epsilon);
  const Shape shape = rows.value.shape;
  const auto operand = [&](size_t i) {
    return over_columns(steps, as_vector(steps, steps.operand(i)), shape);
  };
  StepValue value = steps.binary(Op::Multiply, std::move(rows.value), operand(1));
  value = steps.binary(Op::Add, std::move(value), operand(2));
  std::vector<StepValue> results;
  results.push_back(as_stated(steps, call, std::move(value), 0));
  if (train) {
    results.push_back(as_stated(steps, call, std::move(rows.mean), 1));
    results.push_back(as_stated(steps, call, std::move(rows.norm_factor), 2));
  }
  return steps.finish(std::move(results));
}

// With y = (x - mean) r and g = dy scale: dx = r (g - mean(g) - y mean(g y)), dscale = sum(dy y),
// dbias = sum(dy).
Result<Literal> backward(Call& call) {
  if (call.operands.size() < 5 || call.shape().elements.size() < 3)
    return call.error(ErrorKind::Shape, "expected input, scale, gradient, mean and norm factor");
  Steps steps(call);
  const StepValue x = as_rows(steps, steps.operand(0));
  const Shape shape = x.shape;
  const StepValue dy = as_rows(steps, steps.operand(2));
  const StepValue r = over_rows(steps, as_vector(steps, steps.operand(4)), shape);
  const StepValue y = steps.binary(
      Op::Multiply,
      steps.binary(Op::Subtract, x, over_rows(steps, as_vector(steps, steps.operand(3)), shape)),
      r);
  const StepValue g = steps.binary(Op::Multiply, dy,
                                   over_columns(steps, as_vector(steps, steps.operand(1)), shape));
  const auto mean_of = [&](StepValue value) {
    return over_rows(steps, row_means(steps, std::move(value)), shape);
  };
  StepValue dx = steps.binary(Op::Subtract, g, mean_of(g));
  dx = steps.binary(Op::Subtract, std::move(dx),
                    steps.binary(Op::Multiply, y, mean_of(steps.binary(Op::Multiply, g, y))));
  dx = steps.binary(Op::Multiply, std::move(dx), r);
  std::vector<StepValue> results;
  results.push_back(as_stated(steps, call, std::move(dx), 0));
  results.push_back(
      as_stated(steps, call, column_sums(steps, steps.binary(Op::Multiply, dy, y)), 1));
  results.push_back(as_stated(steps, call, column_sums(steps, dy), 2));
  return steps.finish(std::move(results));
}

}  // namespace

StepValue row_means(Steps& steps, StepValue x) {
  const double count = static_cast<double>(x.shape.dims[1]);
  return times(steps, sums(steps, std::move(x), 1), 1 / count);
}

StepValue column_sums(Steps& steps, StepValue x) { return sums(steps, std::move(x), 0); }

StepValue over_rows(Steps& steps, StepValue a, const Shape& shape) {
  return steps.broadcast(std::move(a), shape, {0});
}

StepValue over_columns(Steps& steps, StepValue a, const Shape& shape) {
  return steps.broadcast(std::move(a), shape, {1});
}

NormalizedRows normalize_rows(Steps& steps, const StepValue& x, double epsilon) {
  NormalizedRows out;
  out.mean = row_means(steps, x);
  StepValue centered = steps.binary(Op::Subtract, x, over_rows(steps, out.mean, x.shape));
  StepValue variance = row_means(steps, steps.binary(Op::Multiply, centered, centered));
  const Shape shape = variance.shape;
  out.norm_factor = steps.unary(
      Op::Rsqrt, steps.binary(Op::Add, std::move(variance), steps.scalar(epsilon, shape)));
  out.value =
      steps.binary(Op::Multiply, std::move(centered), over_rows(steps, out.norm_factor, x.shape));
  return out;
}

// Operands: input [n, ...], scale, bias; backward: input, scale, gradient, mean, norm factor.
// Results: value, [mean, norm factor], workspace; backward: gradients of input, scale and bias.
Result<Literal> call_cudnn_norm(Call& call) {
  HILO_TRY(BackendConfig whole, BackendConfig::parse(call));
  const BackendConfig config = whole.inside("cudnn_norm_backend_config");
  if (!call.shape().is_tuple())
    return call.error(ErrorKind::Shape, "expected a tuple of the value and a workspace");
  const std::string kind = config.text("kind", "LAYER_FWD_INFER");
  const double epsilon = config.number("epsilon", 0);
  if (kind == "LAYER_BWD") return backward(call);
  if (kind == "LAYER_FWD_INFER" || kind == "LAYER_FWD_TRAIN")
    return forward(call, epsilon, kind == "LAYER_FWD_TRAIN");
  return call.error(ErrorKind::Unsupported, fmt::format("norm of kind {}", kind));
}

}  // namespace hilo

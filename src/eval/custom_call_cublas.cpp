// cuBLAS and cuBLASLt matrix products: D = epilogue(alpha A B + beta C + bias). Contracting and
// batch dimensions, alpha, beta and the epilogue stand in gemm_backend_config; strides, algorithms
// and workspaces do not change values. Epilogues: cublasLtEpilogue_t in the cuBLAS documentation.
#include "eval/backend_config.h"
#include "eval/custom_call_epilogue.h"

namespace hilo {
namespace {

struct Gemm {
  DotAttributes dims;
  double alpha = 1, alpha_imaginary = 0, beta = 0;
  std::string epilogue;
  bool largest_output = false;

  bool has(std::string_view part) const { return epilogue.find(part) != std::string::npos; }
};

Result<Gemm> gemm_of(const Call& call) {
  HILO_TRY(BackendConfig all, BackendConfig::parse(call));
  const BackendConfig config = all.inside("gemm_backend_config");
  const BackendConfig numbers = config.inside("dot_dimension_numbers");
  Gemm gemm;
  gemm.dims.lhs_contracting_dims = numbers.dims("lhs_contracting_dimensions");
  gemm.dims.rhs_contracting_dims = numbers.dims("rhs_contracting_dimensions");
  gemm.dims.lhs_batch_dims = numbers.dims("lhs_batch_dimensions");
  gemm.dims.rhs_batch_dims = numbers.dims("rhs_batch_dimensions");
  gemm.alpha = config.number("alpha_real", 1);
  gemm.alpha_imaginary = config.number("alpha_imag", 0);
  gemm.beta = config.number("beta", 0);
  gemm.epilogue = config.text("epilogue", "DEFAULT");
  gemm.largest_output = config.flag("damax_output", false);
  return gemm;
}

// The type that a product is held in until the epilogue is done.
ElementType compute_type(ElementType a, ElementType out) {
  if (is_integral(a)) return ElementType::S32;
  if (out == ElementType::F64 || is_complex(out)) return out;
  return ElementType::F32;
}

// The bias runs along the last dimensions of the result.
StepValue add_bias(Steps& steps, StepValue value, StepValue bias) {
  const Shape shape = value.shape;
  bias = steps.convert(std::move(bias), shape.type);
  return steps.binary(Op::Add, std::move(value), broadcast_right(steps, std::move(bias), shape));
}

// alpha value; where alpha is complex, so is the value.
StepValue times_alpha(Steps& steps, const Gemm& gemm, StepValue value) {
  if (gemm.alpha_imaginary == 0) return times(steps, std::move(value), gemm.alpha);
  const Shape shape = value.shape, real = with_type(shape, real_type_of(shape.type));
  StepValue alpha =
      steps.op(Op::Complex, shape,
               {steps.scalar(gemm.alpha, real), steps.scalar(gemm.alpha_imaginary, real)});
  return steps.binary(Op::Multiply, std::move(value), std::move(alpha));
}

struct Epilogue {
  StepValue value;
  std::optional<StepValue> auxiliary;  // what GELU was taken of
};
Epilogue finish_epilogue(Steps& steps, const Gemm& gemm, StepValue value) {
  Epilogue out;
  if (gemm.has("AUX")) out.auxiliary = value;
  if (gemm.has("RELU")) {
    value = relu(steps, std::move(value));
  } else if (gemm.has("GELU")) {
    value = gelu_tanh(steps, value);
  } else if (gemm.has("SILU") || gemm.has("SWISH")) {
    StepValue logistic = steps.unary(Op::Logistic, value);
    value = steps.binary(Op::Multiply, std::move(value), std::move(logistic));
  }
  out.value = std::move(value);
  return out;
}

StepValue product(Steps& steps, const Gemm& gemm, const Shape& output, StepValue a, StepValue b) {
  const Shape shape =
      with_type(with_dims(output, output.dims), compute_type(a.shape.type, output.type));
  return steps.op(Op::Dot, shape, {std::move(a), std::move(b)}, gemm.dims);
}

Result<void> need_operands(const Call& call, size_t count) {
  if (call.operands.size() >= count) return {};
  return call.error(ErrorKind::Shape, fmt::format("has {} operands; its epilogue wants {}",
                                                  call.operands.size(), count));
}

}  // namespace

// Operands: A, B, C where beta is not 0, the bias where the epilogue adds one.
Result<Literal> call_gemm(Call& call) {
  HILO_DO(need_output_array(call));
  HILO_TRY(Gemm gemm, gemm_of(call));
  const Shape& output = output_shape(call);
  // Older modules: a third operand is the vector bias only where the epilogue says so.
  const bool matrix = gemm.beta != 0;
  HILO_DO(need_operands(call, 2 + matrix + gemm.has("BIAS")));
  Steps steps(call);
  StepValue value = product(steps, gemm, output, steps.operand(0), steps.operand(1));
  value = times_alpha(steps, gemm, std::move(value));
  if (matrix)
    value =
        steps.binary(Op::Add, std::move(value),
                     times(steps, steps.convert(steps.operand(2), value.shape.type), gemm.beta));
  if (gemm.has("BIAS")) value = add_bias(steps, std::move(value), steps.operand(matrix ? 3 : 2));
  Epilogue end = finish_epilogue(steps, gemm, std::move(value));
  std::vector<StepValue> results{steps.convert(std::move(end.value), output.type)};
  if (end.auxiliary && call.shape().is_tuple() && call.shape().elements.size() > 1)
    results.push_back(steps.convert(std::move(*end.auxiliary), call.shape().elements[1].type));
  return steps.finish(std::move(results));
}

// Operands: A, B, C where beta is not 0, scales of A and B, the scale of D where D has 8 bits, the
// bias last. D is scaled after its largest magnitude was taken, and saturates.
Result<Literal> call_gemm_f8(Call& call) {
  HILO_DO(need_output_array(call));
  HILO_TRY(Gemm gemm, gemm_of(call));
  const Shape& output = output_shape(call);
  const bool matrix = gemm.beta != 0, narrow = bits_of(output.type) == 8;
  const size_t scales = matrix ? 3 : 2;
  HILO_DO(need_operands(call, scales + 2 + gemm.has("BIAS")));
  const bool scaled = narrow && call.operands.size() > scales + 2 + gemm.has("BIAS");
  Steps steps(call);
  StepValue value = product(steps, gemm, output, steps.operand(0), steps.operand(1));
  value = multiply_by(steps, std::move(value), steps.operand(scales));
  value = multiply_by(steps, std::move(value), steps.operand(scales + 1));
  value = times(steps, std::move(value), gemm.alpha);
  if (matrix)
    value =
        steps.binary(Op::Add, std::move(value),
                     times(steps, steps.convert(steps.operand(2), value.shape.type), gemm.beta));
  if (gemm.has("BIAS"))
    value = add_bias(steps, std::move(value), steps.operand(call.operands.size() - 1));
  value = finish_epilogue(steps, gemm, std::move(value)).value;
  if (steps.failed()) return steps.finish({});
  std::vector<StepValue> results(1);
  if (gemm.largest_output && call.shape().elements.size() > 1) {
    results.push_back(steps.scalar(largest_magnitude(value), call.shape().elements[1]));
  }
  if (scaled) value = multiply_by(steps, std::move(value), steps.operand(scales + 2));
  if (narrow) value = saturate(steps, std::move(value), output.type);
  results[0] = steps.convert(std::move(value), output.type);
  return steps.finish(std::move(results));
}

}  // namespace hilo

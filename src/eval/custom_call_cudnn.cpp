// cuDNN convolutions. The backward ones carry the window and labels of the forward convolution:
// BackwardInput takes (output gradient, kernel), BackwardFilter (input, output gradient). Written
// as convolutions: "Convolution arithmetic", Dumoulin and Visin, 2016, section 4.
#include <algorithm>

#include "eval/custom_call_cudnn.h"
#include "eval/custom_call_epilogue.h"

namespace hilo {
namespace {

const CustomCallAttributes& attributes_of(const Call& call) {
  return call.attributes<CustomCallAttributes>();
}

// A product of narrow floats is held in f32 until the end.
ElementType compute_type(ElementType out) {
  return is_floating(out) && bits_of(out) < 32 ? ElementType::F32 : out;
}

// Whether labels name each dimension of an array once.
bool names_all(Dims labels, const Dims& spatial) {
  labels.insert(labels.end(), spatial.begin(), spatial.end());
  std::ranges::sort(labels);
  for (size_t i = 0; i < labels.size(); ++i)
    if (labels[i] != static_cast<int64_t>(i)) return false;
  return true;
}

// What the shapes and numbers of backward convolutions are computed from, before those are
// verified as convolutions themselves.
Result<void> check_attributes(const Call& call) {
  const CustomCallAttributes& from = attributes_of(call);
  HILO_DO(need_output_array(call));
  if (!from.dim_labels || call.operands.size() < 2)
    return call.error(ErrorKind::Shape, "expected two operands and dim_labels");
  const ConvolutionLabels& l = *from.dim_labels;
  const int64_t rank = static_cast<int64_t>(l.input_spatial.size()) + 2;
  if (!names_all({l.input_batch, l.input_feature}, l.input_spatial) ||
      !names_all({l.kernel_input_feature, l.kernel_output_feature}, l.kernel_spatial) ||
      !names_all({l.output_batch, l.output_feature}, l.output_spatial) ||
      l.kernel_spatial.size() != l.input_spatial.size() ||
      l.output_spatial.size() != l.input_spatial.size() ||
      call.operands[0].shape().rank() != rank || call.operands[1].shape().rank() != rank ||
      output_shape(call).rank() != rank)
    return call.error(ErrorKind::Shape, "dim_labels do not fit the arrays");
  if (from.feature_group_count < 1 || from.batch_group_count < 1)
    return call.error(ErrorKind::Shape, "expected positive group counts");
  constexpr int64_t limit = int64_t{1} << 20;
  for (const WindowDim& w : from.window.dims)
    for (int64_t value : {w.size, w.stride, w.padding_low, w.padding_high, w.window_dilation})
      if (value < -limit || value > limit)
        return call.error(ErrorKind::Limit, fmt::format("{} in a window", value));
  return {};
}

double setting(const BackendConfig& config, const std::string& key, double otherwise) {
  return config.inside("cudnn_conv_backend_config").number(key, otherwise);
}

Result<Literal> finish(Steps& steps, const Call& call, const BackendConfig& config,
                       StepValue value) {
  value = times(steps, std::move(value), setting(config, "conv_result_scale", 1));
  return steps.finish({steps.convert(std::move(value), output_shape(call).type)});
}

// Labels of the convolution whose kernel is the forward kernel with its features exchanged.
ConvolutionLabels exchanged_labels(const ConvolutionLabels& forward) {
  ConvolutionLabels out = forward;
  std::swap(out.input_batch, out.output_batch);
  std::swap(out.input_feature, out.output_feature);
  std::swap(out.input_spatial, out.output_spatial);
  std::swap(out.kernel_input_feature, out.kernel_output_feature);
  return out;
}

// A grouped kernel [.., I/G, .., O] as [.., I, .., O/G]: the group goes from the output feature to
// the input feature.
StepValue move_groups(Steps& steps, StepValue kernel, const ConvolutionLabels& labels,
                      int64_t groups) {
  if (groups == 1) return kernel;
  const Dims dims = kernel.shape.dims;
  const int64_t in = labels.kernel_input_feature, out = labels.kernel_output_feature;
  Dims split = dims;
  if (split[out] % groups != 0)
    steps.fail(ErrorKind::Shape, fmt::format("{} groups of {} features", groups, split[out]));
  split[out] /= groups;
  split.insert(split.begin() + out, groups);
  kernel = steps.reshape(std::move(kernel), split);
  // The group, at `out`, goes right before the input feature.
  Dims order;
  for (int64_t d = 0; d < static_cast<int64_t>(split.size()); ++d) {
    if (d == out) continue;
    if (d == in + (in > out ? 1 : 0)) order.push_back(out);
    order.push_back(d);
  }
  kernel = steps.transpose(std::move(kernel), order);
  Dims merged = dims;
  merged[out] /= groups;
  merged[in] *= groups;
  return steps.reshape(std::move(kernel), merged);
}

// x where it is positive.
StepValue where_positive(Steps& steps, const StepValue& x, StepValue otherwise) {
  StepValue positive =
      steps.op(Op::Compare, with_type(x.shape, ElementType::Pred), {x, steps.scalar(0, x.shape)},
               CompareAttributes{ComparisonDirection::Gt});
  return steps.op(Op::Select, x.shape, {std::move(positive), x, std::move(otherwise)});
}

enum class Activation : uint8_t { None, Relu, Relu6, Elu, LeakyRelu, Unknown };
Activation activation_of(const std::string& name) {
  if (name == "kNone") return Activation::None;
  if (name == "kRelu") return Activation::Relu;
  if (name == "kRelu6") return Activation::Relu6;
  if (name == "kElu") return Activation::Elu;
  return name == "kLeakyRelu" ? Activation::LeakyRelu : Activation::Unknown;
}

StepValue activate(Steps& steps, StepValue x, Activation activation, double slope) {
  const Shape shape = x.shape;
  if (activation == Activation::None) return x;
  if (activation == Activation::Relu) return relu(steps, std::move(x));
  if (activation == Activation::Relu6)
    return steps.op(Op::Clamp, shape,
                    {steps.scalar(0, shape), std::move(x), steps.scalar(6, shape)});
  if (activation == Activation::Elu) return elu(steps, x);
  return where_positive(steps, x, times(steps, x, slope));
}

}  // namespace

Result<ConvolutionAttributes> forward_attributes(const Call& call) {
  HILO_DO(check_attributes(call));
  const CustomCallAttributes& from = attributes_of(call);
  ConvolutionAttributes out;
  out.window = from.window;
  out.window.dims.resize(from.dim_labels->input_spatial.size());
  out.dim_labels = *from.dim_labels;
  out.feature_group_count = from.feature_group_count;
  out.batch_group_count = from.batch_group_count;
  return out;
}

Shape compute_shape(const Shape& shape) {
  return with_type(with_dims(shape, shape.dims), compute_type(shape.type));
}

StepValue elu(Steps& steps, const StepValue& x) {
  return where_positive(steps, x, steps.unary(Op::ExponentialMinusOne, x));
}

Result<Literal> call_convolution_forward(Call& call) {
  HILO_TRY(ConvolutionAttributes attributes, forward_attributes(call));
  HILO_TRY(BackendConfig config, BackendConfig::parse(call));
  Steps steps(call);
  return finish(steps, call, config,
                steps.op(Op::Convolution, compute_shape(output_shape(call)),
                         {steps.operand(0), steps.operand(1)}, attributes));
}

// Operands: input, kernel, bias over the output features, side input where its scale is not 0.
Result<Literal> call_convolution_bias_activation(Call& call) {
  HILO_TRY(ConvolutionAttributes attributes, forward_attributes(call));
  HILO_TRY(BackendConfig config, BackendConfig::parse(call));
  const BackendConfig inner = config.inside("cudnn_conv_backend_config");
  const Activation activation = activation_of(inner.text("activation_mode", "kNone"));
  if (activation == Activation::Unknown || call.operands.size() < 3)
    return call.error(ErrorKind::Unsupported,
                      fmt::format("activation {} with {} operands",
                                  inner.text("activation_mode", "kNone"), call.operands.size()));
  const Shape shape =
      with_type(compute_shape(output_shape(call)), is_integral(call.operands[0].type())
                                                       ? ElementType::F32
                                                       : compute_type(output_shape(call).type));
  Steps steps(call);
  StepValue value = steps.convert(
      steps.op(Op::Convolution,
               is_integral(call.operands[0].type()) ? with_type(shape, ElementType::S32) : shape,
               {steps.operand(0), steps.operand(1)}, attributes),
      shape.type);
  value = times(steps, std::move(value), inner.number("conv_result_scale", 1));
  const double side = inner.number("side_input_scale", 0);
  if (side != 0 && call.operands.size() > 3)
    value = steps.binary(Op::Add, std::move(value),
                         times(steps, steps.convert(steps.operand(3), shape.type), side));
  StepValue bias = steps.convert(steps.operand(2), shape.type);
  bias = steps.broadcast(std::move(bias), shape, {attributes.dim_labels.output_feature});
  value = steps.binary(Op::Add, std::move(value), std::move(bias));
  value = activate(steps, std::move(value), activation, inner.number("leakyrelu_alpha", 0));
  return steps.finish({steps.convert(std::move(value), output_shape(call).type)});
}

Result<Literal> call_convolution_backward_input(Call& call) {
  HILO_TRY(ConvolutionAttributes attributes, forward_attributes(call));
  HILO_TRY(BackendConfig config, BackendConfig::parse(call));
  const ConvolutionLabels forward = attributes.dim_labels;
  const Shape gradient = call.module.shape(call.module.operand(call.id, 0));
  for (size_t i = 0; i < attributes.window.dims.size(); ++i) {
    WindowDim& dim = attributes.window.dims[i];
    const int64_t reach = (dim.size - 1) * dim.window_dilation;
    const int64_t dilated = (gradient.dims[forward.output_spatial[i]] - 1) * dim.stride + 1;
    dim.base_dilation = dim.stride;
    dim.stride = 1;
    dim.reversal = !dim.reversal;
    dim.padding_low = reach - dim.padding_low;
    dim.padding_high =
        output_shape(call).dims[forward.input_spatial[i]] - dilated - dim.padding_low + reach;
  }
  attributes.dim_labels = exchanged_labels(forward);
  Steps steps(call);
  StepValue kernel = move_groups(steps, steps.operand(1), forward, attributes.feature_group_count);
  return finish(steps, call, config,
                steps.op(Op::Convolution, compute_shape(output_shape(call)),
                         {steps.operand(0), std::move(kernel)}, attributes));
}

// The batch is what is summed over: it takes the place of the input feature; groups of features
// become groups of the batch.
Result<Literal> call_convolution_backward_filter(Call& call) {
  HILO_TRY(ConvolutionAttributes attributes, forward_attributes(call));
  HILO_TRY(BackendConfig config, BackendConfig::parse(call));
  const ConvolutionLabels forward = attributes.dim_labels;
  const Shape input = call.module.shape(call.module.operand(call.id, 0));
  const Shape gradient = call.module.shape(call.module.operand(call.id, 1));
  Dims reversed;
  for (size_t i = 0; i < attributes.window.dims.size(); ++i) {
    WindowDim& dim = attributes.window.dims[i];
    if (dim.reversal) reversed.push_back(forward.kernel_spatial[i]);
    const int64_t outputs = gradient.dims[forward.output_spatial[i]];
    const int64_t reach = (dim.size - 1) * dim.window_dilation;
    const int64_t window = (outputs - 1) * dim.stride + 1;
    dim.padding_high = reach + window - input.dims[forward.input_spatial[i]] - dim.padding_low;
    std::swap(dim.stride, dim.window_dilation);
    dim.size = outputs;
    dim.reversal = false;
  }
  ConvolutionLabels& labels = attributes.dim_labels;
  labels.input_batch = forward.input_feature;
  labels.input_feature = forward.input_batch;
  labels.kernel_input_feature = forward.output_batch;
  labels.kernel_output_feature = forward.output_feature;
  labels.kernel_spatial = forward.output_spatial;
  labels.output_batch = forward.kernel_input_feature;
  labels.output_feature = forward.kernel_output_feature;
  labels.output_spatial = forward.kernel_spatial;
  std::swap(attributes.batch_group_count, attributes.feature_group_count);
  Steps steps(call);
  StepValue value = steps.op(Op::Convolution, compute_shape(output_shape(call)),
                             {steps.operand(0), steps.operand(1)}, attributes);
  if (!reversed.empty()) {
    const Shape shape = value.shape;
    value = steps.op(Op::Reverse, shape, {std::move(value)}, DimensionsAttributes{reversed});
  }
  return finish(steps, call, config, std::move(value));
}

}  // namespace hilo

// oneDNN's primitives as XLA:CPU calls them. Settings: xla/service/cpu/onednn_config.proto; floats
// stand there as the integer of their bits.
#include <algorithm>
#include <bit>
#include <cmath>

#include "eval/backend_config.h"
#include "eval/custom_call_epilogue.h"
#include "eval/custom_call_norm.h"

namespace hilo {
namespace {

double float_of_bits(const BackendConfig& config, const std::string& key) {
  return std::bit_cast<float>(static_cast<int32_t>(config.whole(key, 0)));
}

Result<void> need_logical_weights(const Call& call, const BackendConfig& config) {
  const BackendConfig inner =
      config.has("optimization_config") ? config.inside("optimization_config") : config;
  if (!inner.flag("weights_prepacked", false)) return {};
  return call.error(ErrorKind::Unsupported,
                    "weights in oneDNN's own order (weights_prepacked), which nobody documents");
}

// What follows the product, in order; operands from `next` on are theirs.
StepValue apply_fusions(Steps& steps, const BackendConfig& config, StepValue value, size_t next) {
  const bool nested = config.has("fusions");
  const BackendConfig fusions = nested ? config.inside("fusions") : config;
  for (const std::string& op : fusions.texts(nested ? "ops" : "fused_ops")) {
    const Shape shape = value.shape;
    if (op == "BIAS" || op == "BINARY_ADD") {
      StepValue other = steps.convert(steps.operand(next++), shape.type);
      value =
          steps.binary(Op::Add, std::move(value), broadcast_right(steps, std::move(other), shape));
    } else if (op == "RELU") {
      value = relu(steps, std::move(value));
    } else if (op == "TANH") {
      value = steps.unary(Op::Tanh, std::move(value));
    } else if (op == "GELU_ERF") {
      value = gelu_erf(steps, value);
    } else if (op == "GELU_TANH") {
      value = gelu_tanh(steps, value);
    } else if (op == "LINEAR") {
      value = times(steps, std::move(value), float_of_bits(fusions, "alpha_typecast"));
    } else {
      steps.fail(ErrorKind::Unsupported, fmt::format("the fused op {}", op));
    }
  }
  return value;
}

ElementType compute_type(ElementType type) {
  return is_floating(type) && bits_of(type) < 32 ? ElementType::F32 : type;
}

Result<Literal> finish(Steps& steps, const Call& call, StepValue value) {
  return steps.finish({steps.convert(std::move(value), output_shape(call).type)});
}

// Labels from settings whose spatial dimensions may be counted from 1.
bool set_labels(const BackendConfig& config, int64_t offset, ConvolutionLabels& labels) {
  const BackendConfig input = config.inside("input").inside("data"),
                      kernel = config.inside("kernel").inside("filter"),
                      output = config.inside("output").inside("data");
  const auto spatial = [&](const BackendConfig& from) {
    Dims out = from.dims("spatial_dims");
    for (int64_t& d : out) d -= offset;
    return out;
  };
  labels.input_batch = input.whole("batch_dim", 0);
  labels.input_feature = input.whole("feature_dim", 0);
  labels.input_spatial = spatial(input);
  labels.kernel_input_feature = kernel.whole("input_feature_dim", 0);
  labels.kernel_output_feature = kernel.whole("output_feature_dim", 0);
  labels.kernel_spatial = spatial(kernel);
  labels.output_batch = output.whole("batch_dim", 0);
  labels.output_feature = output.whole("feature_dim", 0);
  labels.output_spatial = spatial(output);
  Dims all = labels.input_spatial;
  all.insert(all.end(), {labels.input_batch, labels.input_feature});
  std::ranges::sort(all);
  for (size_t d = 0; d < all.size(); ++d)
    if (all[d] != static_cast<int64_t>(d)) return false;
  return true;
}

// XLA of 2024 and later writes sizes and spatial dimensions one larger than they are, because zeros
// of a proto are not written; which it was is told by whether they name every dimension.
Result<ConvolutionAttributes> convolution_of(const Call& call, const BackendConfig& config) {
  ConvolutionAttributes out;
  int64_t offset = 1;
  if (!set_labels(config, 1, out.dim_labels)) offset = 0;
  if (offset == 0 && !set_labels(config, 0, out.dim_labels))
    return call.error(ErrorKind::Shape, "onednn_conv_config does not name every dimension");
  const BackendConfig window = config.inside("window");
  const Dims low = window.dims("pad_left"), high = window.dims("pad_right"),
             strides = window.dims("strides"), dilations = window.dims("window_dilations");
  const size_t rank = out.dim_labels.input_spatial.size();
  if (out.dim_labels.kernel_spatial.size() != rank || low.size() != rank || high.size() != rank ||
      strides.size() != rank || dilations.size() != rank)
    return call.error(ErrorKind::Shape, "onednn_conv_config has windows of another rank");
  for (size_t d = 0; d < rank; ++d) {
    const int64_t at = out.dim_labels.kernel_spatial[d];
    if (at < 0 || at >= call.operands[1].shape().rank())
      return call.error(ErrorKind::Shape, "onednn_conv_config names a dimension that is not there");
    WindowDim dim;
    dim.size = call.operands[1].shape().dims[at];
    dim.padding_low = low[d] - offset, dim.padding_high = high[d] - offset;
    dim.stride = strides[d] - offset, dim.window_dilation = dilations[d] - offset;
    out.window.dims.push_back(dim);
  }
  out.feature_group_count = std::max<int64_t>(1, config.whole("feature_groups", 1));
  return out;
}

// Swaps the last two dimensions.
StepValue transposed(Steps& steps, StepValue value) {
  Dims order;
  for (int64_t d = 0; d < value.shape.rank(); ++d) order.push_back(d);
  if (order.size() < 2) {
    steps.fail(ErrorKind::Shape, "expected a matrix");
    return value;
  }
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return steps.transpose(std::move(value), order);
}

}  // namespace

// Operands: lhs [.., m, k], rhs [.., k, n], then those of fused ops. Results: the product,
// [workspace].
Result<Literal> call_onednn_matmul(Call& call) {
  HILO_DO(need_output_array(call));
  HILO_TRY(BackendConfig whole, BackendConfig::parse(call));
  const BackendConfig config = whole.inside("onednn_matmul_config");
  HILO_DO(need_logical_weights(call, config));
  Steps steps(call);
  StepValue lhs = steps.operand(0), rhs = steps.operand(1);
  if (config.flag("transpose_a", false)) lhs = transposed(steps, std::move(lhs));
  if (config.flag("transpose_b", false)) rhs = transposed(steps, std::move(rhs));
  const int64_t rank = lhs.shape.rank();
  if (rank < 2 || rhs.shape.rank() != rank)
    return call.error(ErrorKind::Shape, "expected matrices of one rank");
  DotAttributes dims;
  for (int64_t d = 0; d + 2 < rank; ++d) dims.lhs_batch_dims.push_back(d);
  dims.rhs_batch_dims = dims.lhs_batch_dims;
  dims.lhs_contracting_dims = {rank - 1}, dims.rhs_contracting_dims = {rank - 2};
  Dims product(lhs.shape.dims.begin(), lhs.shape.dims.end() - 1);
  product.push_back(rhs.shape.dims[rank - 1]);
  const Shape& output = output_shape(call);
  const Shape shape = Shape::array(compute_type(output.type), product);
  StepValue value = steps.op(Op::Dot, shape, {std::move(lhs), std::move(rhs)}, dims);
  value = apply_fusions(steps, config, std::move(value), 2);
  return finish(steps, call, steps.reshape(std::move(value), output.dims));
}

// Operands: input, kernel, then those of fused ops.
Result<Literal> call_onednn_convolution(Call& call) {
  HILO_DO(need_output_array(call));
  HILO_TRY(BackendConfig whole, BackendConfig::parse(call));
  const BackendConfig config = whole.inside("onednn_conv_config");
  HILO_DO(need_logical_weights(call, config));
  if (call.operands.size() < 2) return call.error(ErrorKind::Shape, "expected input and kernel");
  HILO_TRY(const ConvolutionAttributes attributes, convolution_of(call, config));
  const Shape& output = output_shape(call);
  Steps steps(call);
  StepValue value = steps.op(Op::Convolution,
                             with_type(with_dims(output, output.dims), compute_type(output.type)),
                             {steps.operand(0), steps.operand(1)}, attributes);
  return finish(steps, call, apply_fusions(steps, config, std::move(value), 2));
}

// Of the last dimension. Operands: input, scale, shift where `rescale` says so.
Result<Literal> call_onednn_layer_norm(Call& call) {
  HILO_DO(need_output_array(call));
  HILO_TRY(BackendConfig whole, BackendConfig::parse(call));
  const BackendConfig config = whole.inside("onednn_layer_norm_config");
  const std::string rescale = config.text("rescale", config.text("fused_ops", "UNDEFINED"));
  Steps steps(call);
  const StepValue input = steps.operand(0);
  if (input.shape.rank() < 1 || element_count(input.shape) == 0)
    return call.error(ErrorKind::Shape, "expected an array with elements");
  const int64_t m = input.shape.dims.back(), n = element_count(input.shape) / m;
  const StepValue rows = steps.reshape(steps.convert(input, ElementType::F32), {n, m});
  StepValue value = normalize_rows(steps, rows, float_of_bits(config, "epsilon_typecast")).value;
  const Shape shape = value.shape;
  size_t next = 1;
  const auto operand = [&] {
    StepValue one = steps.convert(steps.operand(next++), ElementType::F32);
    return over_columns(steps, steps.reshape(std::move(one), {m}), shape);
  };
  if (rescale.starts_with("SCALE")) value = steps.binary(Op::Multiply, std::move(value), operand());
  if (rescale.ends_with("SHIFT")) value = steps.binary(Op::Add, std::move(value), operand());
  return finish(steps, call, steps.reshape(std::move(value), input.shape.dims));
}

Result<Literal> call_onednn_softmax(Call& call) {
  HILO_TRY(BackendConfig whole, BackendConfig::parse(call));
  int64_t axis = whole.inside("onednn_softmax_config").whole("softmax_axis", 0);
  if (call.operands.size() != 1 || !call.operands[0].shape().is_array())
    return call.error(ErrorKind::Shape, "expected an array");
  const Literal& x = call.operands[0];
  if (axis < 0) axis += x.shape().rank();
  if (axis < 0 || axis >= x.shape().rank())
    return call.error(ErrorKind::Shape, fmt::format("no dimension {}", axis));
  const int64_t size = x.shape().dims[axis], step = row_major_strides(x.shape().dims)[axis];
  StepValue out{call.make_held(with_type(x.shape(), ElementType::F64)),
                Shape::array(ElementType::F64, x.shape().dims)};
  const std::span<double> to = out.literal.mutable_data<double>();
  for (int64_t line = 0; size > 0 && line < x.count() / size; ++line) {
    const int64_t first = line / step * step * size + line % step;
    double largest = -INFINITY, sum = 0;
    for (int64_t i = 0; i < size; ++i) largest = std::max(largest, x.number_at(first + i * step));
    for (int64_t i = 0; i < size; ++i)
      sum += to[first + i * step] = std::exp(x.number_at(first + i * step) - largest);
    for (int64_t i = 0; i < size; ++i) to[first + i * step] /= sum;
  }
  Steps steps(call);
  return steps.finish({steps.convert(std::move(out), call.shape().type)});
}

}  // namespace hilo

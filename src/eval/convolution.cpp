#include "eval/dynamic_sizes.h"
#include "eval/reference/reference.h"
#include "eval/routine.h"

namespace hilo {
namespace {

WindowDim window_dim(const ConvolutionAttributes& a, size_t d) {
  return d < a.window.dims.size() ? a.window.dims[d] : WindowDim{};
}

ConvolutionDims convolution_dims(const ConvolutionAttributes& a) {
  const ConvolutionLabels& l = a.dim_labels;
  ConvolutionDims out{{},
                      l.input_batch,
                      l.input_feature,
                      l.kernel_input_feature,
                      l.kernel_output_feature,
                      l.output_batch,
                      l.output_feature,
                      a.feature_group_count,
                      a.batch_group_count};
  for (size_t d = 0; d < l.input_spatial.size(); ++d) {
    const WindowDim window = window_dim(a, d);
    out.spatial.push_back({l.input_spatial[d], l.kernel_spatial[d], l.output_spatial[d],
                           window.size, window.stride, window.padding_low, window.padding_high,
                           window.window_dilation, window.base_dilation, window.reversal});
  }
  return out;
}

// Elements that are not there are zero, as padding is.
Literal with_zeros(const Call& call, const Literal& array) {
  return masked(call, array, Literal::zeros(Shape::scalar(array.type())));
}

Dims result_sizes(const ConvolutionAttributes& a, const Literal& input, const Literal& kernel,
                  const Literal& out) {
  const ConvolutionLabels& l = a.dim_labels;
  Dims sizes = out.shape().dims;
  sizes[l.output_batch] = input.size(l.input_batch) / std::max<int64_t>(1, a.batch_group_count);
  sizes[l.output_feature] = kernel.size(l.kernel_output_feature);
  for (size_t d = 0; d < l.output_spatial.size(); ++d)
    sizes[l.output_spatial[d]] =
        count_window_positions(window_dim(a, d), input.size(l.input_spatial[d]));
  return sizes;
}

Result<void> run_kernel(const Call& call, const Literal& input, const Literal& window,
                        Literal& out) {
  const auto& a = call.attributes<ConvolutionAttributes>();
  const PreparedConvolution kernel(convolution_dims(a), input.shape(), window.shape(), out.shape(),
                                   call.options().matmul_precision, false);
  const int64_t bytes = kernel.workspace_bytes();
  HILO_DO(call.need_memory(bytes));
  Literal workspace = call.make_held(Shape::array(ElementType::U8, {bytes}));
  kernel.run(input.raw().data(), window.raw().data(), out.mutable_raw().data(),
             workspace.mutable_raw().data(), call.in_chunks());
  return {};
}

}  // namespace

Routine routine_Convolution(const RoutineCall& call) {
  const auto& a = call.attributes<ConvolutionAttributes>();
  const PreparedConvolution kernel(convolution_dims(a), call.operand(0), call.operand(1),
                                   call.result(), call.options.matmul_precision, true);
  if (!a.sparsity_config.text.empty() || !kernel.is_product()) return {};
  Routine out = [kernel](auto operands, auto results, const Parallel& parallel) {
    kernel.run(operands[0], operands[1], results[0], thread_workspace(kernel.workspace_bytes()),
               parallel);
  };
  out.run_in_parts = [kernel](auto operands, auto results, const Parallel& parallel, int64_t width,
                              const TakePart& take) {
    if (!kernel.tells_parts(width)) return false;
    kernel.run(operands[0], operands[1], results[0], thread_workspace(kernel.workspace_bytes()),
               parallel, width, &take);
    return true;
  };
  return out;
}

Result<Literal> evaluate_Convolution(Call& call) {
  const auto& a = call.attributes<ConvolutionAttributes>();
  if (!a.sparsity_config.text.empty())
    return call.error(ErrorKind::Unsupported, "convolution with structured sparsity");
  Literal out = call.make();
  const Dims sizes = result_sizes(a, call.operands[0], call.operands[1], out);
  const Literal input = with_zeros(call, call.operands[0]);
  const Literal window = with_zeros(call, call.operands[1]);
  if (call.is_reference())
    reference::convolution(input, window, a, call.options().matmul_precision, out);
  else HILO_DO(run_kernel(call, input, window, out));
  set_dynamic_sizes(out, sizes);
  return out;
}

}  // namespace hilo

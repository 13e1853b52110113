// Products of a convolution. Only positions of the window that meet an element of the input count.
#include <algorithm>
#include <numeric>

#include "analysis/cost.h"

namespace hilo {
namespace {

using Wide = __int128;                 // products of two dimensions
constexpr double max_steps = 1 << 22;  // beyond, all positions count as valid

// How many o in [0, outputs) have o * stride + start on one of `inputs` elements that stand
// `dilation` apart, the first at 0.
double hits(Wide start, int64_t stride, int64_t outputs, int64_t dilation, int64_t inputs) {
  const int64_t common = std::gcd(stride, dilation);
  if (start % common != 0) return 0;
  // The first o that is congruent; then each `step`-th is.
  const int64_t step = dilation / common;
  Wide first = 0;
  while (first < step && (start + first * stride) % dilation != 0) ++first;
  // 0 <= o * stride + start <= end
  const Wide end = static_cast<Wide>(inputs - 1) * dilation;
  Wide low = start >= 0 ? 0 : (-start + stride - 1) / stride;
  if (start > end) return 0;
  Wide high = std::min<Wide>((end - start) / stride, outputs - 1);
  low = first + (std::max<Wide>(low - first, 0) + step - 1) / step * step;
  return low > high ? 0 : static_cast<double>((high - low) / step + 1);
}

// Pairs of an output and a window position of one dimension that meet an element.
double valid_pairs(const WindowDim& dim, int64_t inputs, int64_t outputs) {
  if (inputs < 1 || outputs < 1 || dim.size < 1) return 0;
  const int64_t stride = std::max<int64_t>(dim.stride, 1);
  const int64_t dilation = std::max<int64_t>(dim.base_dilation, 1);
  const double positions = static_cast<double>(dim.size);
  if (positions * static_cast<double>(dilation) > max_steps)
    return positions * static_cast<double>(outputs);
  double sum = 0;
  for (int64_t k = 0; k < dim.size; ++k)
    sum += hits(static_cast<Wide>(k) * dim.window_dilation - dim.padding_low, stride, outputs,
                dilation, inputs);
  return sum;
}

bool has_dim(const Shape& shape, int64_t d) {
  return shape.is_array() && d >= 0 && d < shape.rank();
}

}  // namespace

std::optional<double> convolution_flops(const ConvolutionSizes& sizes) {
  const ConvolutionLabels& labels = sizes.labels;
  if (!has_dim(sizes.kernel, labels.kernel_input_feature) ||
      !has_dim(sizes.output, labels.output_feature) || !has_dim(sizes.output, labels.output_batch))
    return std::nullopt;
  double products = static_cast<double>(sizes.kernel.dims[labels.kernel_input_feature]) *
                    static_cast<double>(sizes.output.dims[labels.output_feature]) *
                    static_cast<double>(sizes.output.dims[labels.output_batch]);
  const size_t spatial = labels.input_spatial.size();
  if (labels.output_spatial.size() != spatial || sizes.window.dims.size() < spatial)
    return std::nullopt;
  for (size_t s = 0; s < spatial; ++s) {
    const int64_t in = labels.input_spatial[s], out = labels.output_spatial[s];
    if (!has_dim(sizes.input, in) || !has_dim(sizes.output, out)) return std::nullopt;
    products *= valid_pairs(sizes.window.dims[s], sizes.input.dims[in], sizes.output.dims[out]);
  }
  return 2 * products;
}

}  // namespace hilo

#include "eval/reference/reference.h"
#include "eval/values.h"

namespace hilo::reference {
namespace {

// One element of the result: features of its group times the window that it sees.
template <class T>
struct Window {
  const ConvolutionAttributes& a;
  const Dims &input_dims, &kernel_dims, &out_dims;
  const std::vector<T>&input, &kernel;
  Dims of_input = row_major_strides(input_dims), of_kernel = row_major_strides(kernel_dims);

  // Where place w of the window sees the input; outside, and between dilated elements: none.
  std::optional<int64_t> position(const WindowDim& dim, int64_t o, int64_t w, int64_t size) const {
    const int64_t at = o * dim.stride + w * dim.window_dilation - dim.padding_low;
    if (at < 0 || at % dim.base_dilation != 0 || at / dim.base_dilation >= size)
      return std::nullopt;
    return at / dim.base_dilation;
  }

  T product(const Dims& o, const Dims& w, int64_t feature) const {
    const ConvolutionLabels& l = a.dim_labels;
    const int64_t outputs = out_dims[l.output_feature], batches = out_dims[l.output_batch];
    const int64_t features = kernel_dims[l.kernel_input_feature];
    const int64_t output = o[l.output_feature];
    Dims i(input_dims.size()), k(kernel_dims.size());
    i[l.input_batch] = o[l.output_batch] + output / (outputs / a.batch_group_count) * batches;
    i[l.input_feature] = feature + output / (outputs / a.feature_group_count) * features;
    if (a.batch_group_count > 1) i[l.input_feature] = feature;
    k[l.kernel_input_feature] = feature, k[l.kernel_output_feature] = output;
    for (size_t d = 0; d < w.size(); ++d) {
      const WindowDim dim = a.window.dims.empty() ? WindowDim{} : a.window.dims[d];
      const auto at = position(dim, o[l.output_spatial[d]], w[d], input_dims[l.input_spatial[d]]);
      if (!at) return T{};
      i[l.input_spatial[d]] = *at;
      k[l.kernel_spatial[d]] = dim.reversal ? kernel_dims[l.kernel_spatial[d]] - 1 - w[d] : w[d];
    }
    return input[offset(i, of_input)] * kernel[offset(k, of_kernel)];
  }
};

}  // namespace

void convolution(const Literal& input, const Literal& kernel, const ConvolutionAttributes& a,
                 MatmulPrecision precision, Literal& out) {
  const ConvolutionLabels& l = a.dim_labels;
  visit_sum({input.type(), kernel.type(), out.type()}, [&]<class T>(std::type_identity<T>) {
    const std::vector<T> x = factors_of<T>(input, kernel, precision),
                         k = factors_of<T>(kernel, input, precision);
    const Dims &kernel_dims = kernel.shape().dims, &out_dims = out.shape().dims;
    const Window<T> window{a, input.shape().dims, kernel_dims, out_dims, x, k};
    const Dims sizes = pick(kernel_dims, l.kernel_spatial);
    std::vector<T> sums;
    for_each_index(out_dims, [&](const Dims& o) {
      T sum{};
      for_each_index(sizes, [&](const Dims& w) {
        for (int64_t feature = 0; feature < kernel_dims[l.kernel_input_feature]; ++feature)
          sum += window.product(o, w, feature);
      });
      sums.push_back(sum);
    });
    store_values<T>(sums, out);
  });
}

}  // namespace hilo::reference

#include "ir/infer/infer.h"

namespace hilo {
namespace {

// The labels of one array name each of its dimensions once.
Result<void> need_labels(std::string_view what, const Shape& shape, int64_t first, int64_t second,
                         const Dims& spatial, const Dims& unknown) {
  Dims all = {first, second};
  all.insert(all.end(), spatial.begin(), spatial.end());
  all.insert(all.end(), unknown.begin(), unknown.end());
  if (all.size() != shape.dims.size())
    return misfit("dim_labels name {} dimensions of the {} {}", all.size(), what, text(shape));
  return need_distinct(fmt::format("dim_labels of the {}", what), all, shape.rank());
}

Result<void> need_sound_labels(const ConvolutionAttributes& a, const Shape& input,
                               const Shape& kernel) {
  const ConvolutionLabels& l = a.dim_labels;
  HILO_DO(need_labels("input", input, l.input_batch, l.input_feature, l.input_spatial,
                      l.input_unknown));
  HILO_DO(need_labels("kernel", kernel, l.kernel_input_feature, l.kernel_output_feature,
                      l.kernel_spatial, l.kernel_unknown));
  const size_t n = l.input_spatial.size();
  if (l.kernel_spatial.size() != n || l.output_spatial.size() != n)
    return misfit("dim_labels name {}, {} and {} spatial dimensions", n, l.kernel_spatial.size(),
                  l.output_spatial.size());
  if (a.window.dims.size() != n)
    return misfit("expected a window of {} dimensions, found {}", n, a.window.dims.size());
  Dims out = {l.output_batch, l.output_feature};
  out.insert(out.end(), l.output_spatial.begin(), l.output_spatial.end());
  return need_distinct("dim_labels of the output", out, static_cast<int64_t>(n) + 2);
}

Result<void> need_sound_groups(const ConvolutionAttributes& a, int64_t batch,
                               int64_t input_features, int64_t kernel_input,
                               int64_t kernel_output) {
  const int64_t features = a.feature_group_count, batches = a.batch_group_count;
  if (features <= 0 || batches <= 0)
    return misfit("expected positive feature_group_count and batch_group_count, found {} and {}",
                  features, batches);
  if (features > 1 && batches > 1)
    return misfit("feature_group_count {} and batch_group_count {} are both above 1", features,
                  batches);
  if (input_features % features != 0 || input_features / features != kernel_input)
    return misfit("expected {} groups of {} input features, found {}", features, kernel_input,
                  input_features);
  if (kernel_output % features != 0)
    return misfit("{} output features do not divide into {} groups", kernel_output, features);
  if (kernel_output % batches != 0)
    return misfit("{} output features do not divide into {} batch groups", kernel_output, batches);
  if (batch % batches != 0)
    return misfit("a batch of {} does not divide into {} groups", batch, batches);
  return {};
}

}  // namespace

Result<Shape> infer_Convolution(const Given& given) {
  HILO_DO(need_arrays(given));
  const auto& a = given.attributes<ConvolutionAttributes>();
  const ConvolutionLabels& l = a.dim_labels;
  const Shape& input = given.operand(0);
  const Shape& kernel = given.operand(1);
  HILO_DO(need_sound_labels(a, input, kernel));
  HILO_DO(need_sound_groups(a, input.dims[l.input_batch], input.dims[l.input_feature],
                            kernel.dims[l.kernel_input_feature],
                            kernel.dims[l.kernel_output_feature]));
  Dims dims(l.output_spatial.size() + 2);
  std::vector<bool> dynamic(dims.size());
  dims[l.output_batch] = input.dims[l.input_batch] / a.batch_group_count;
  dims[l.output_feature] = kernel.dims[l.kernel_output_feature];
  dynamic[l.output_batch] = input.is_dynamic(l.input_batch);
  dynamic[l.output_feature] = kernel.is_dynamic(l.kernel_output_feature);
  for (size_t i = 0; i < l.output_spatial.size(); ++i) {
    if (a.window.dims[i].size != kernel.dims[l.kernel_spatial[i]])
      return misfit("expected a window of size {} at spatial dimension {}, found {}",
                    kernel.dims[l.kernel_spatial[i]], i, a.window.dims[i].size);
    const int64_t size = input.dims[l.input_spatial[i]];
    HILO_TRY(dims[l.output_spatial[i]], window_output_size(a.window.dims[i], size));
    dynamic[l.output_spatial[i]] = input.is_dynamic(l.input_spatial[i]);
  }
  HILO_TRY(const ElementType type, product_type(given, wider(input.type, kernel.type)));
  return make_array(type, std::move(dims), std::move(dynamic));
}

}  // namespace hilo

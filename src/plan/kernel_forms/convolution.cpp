// Convolutions: in blocks of places and features, element by element, or why a routine is better.
#include <algorithm>

#include "base/base.h"
#include "pass/pass.h"
#include "plan/kernel_forms.h"

namespace hilo {
namespace {

// Straight code of more takes longer to compile than it saves: of one feature, as images have, of
// several, whose lanes lie apart, and under windows that move on by several places.
constexpr int64_t max_image_products = 32, max_window_products = 24, max_strided_products = 16;
constexpr int64_t longest_zeros = 1 << 16;

size_t at(int64_t dim) { return static_cast<size_t>(dim); }

// Of one element; none where they are many, or of an input that is dilated.
std::optional<int64_t> product_count(const ConvolutionAttributes& a, const Dims& kernel) {
  int64_t out = kernel[at(a.dim_labels.kernel_input_feature)];
  for (const WindowDim& dim : a.window.dims) {
    if (dim.base_dilation != 1 || dim.size > LoopLimits::max_products) return std::nullopt;
    out *= dim.size;
    if (out > LoopLimits::max_products) return std::nullopt;
  }
  return out;
}

// Of few products: whether the whole result is written best element by element, and not in blocks.
bool is_quick_by_element(const ConvolutionAttributes& a, const Dims& kernel) {
  const bool is_image = kernel[at(a.dim_labels.kernel_input_feature)] == 1 &&
                        kernel[at(a.dim_labels.kernel_output_feature)] == 1;
  int64_t limit = LoopLimits::max_products;
  for (const WindowDim& dim : a.window.dims) {
    if (dim.size > 1) limit = std::min(limit, is_image ? max_image_products : max_window_products);
    if (dim.stride > 1) limit = max_strided_products;
  }
  return product_count(a, kernel).value_or(limit + 1) <= limit;
}

class Convolution {
 public:
  Convolution(const Module& module, InstructionId id, const KernelChip& chip)
      : a_(module.attributes<ConvolutionAttributes>(id)),
        labels_(a_.dim_labels),
        input_(module.shape(module.operand(id, 0))),
        kernel_(module.shape(module.operand(id, 1))),
        result_(module.shape(id)),
        chip_(chip),
        is_wide_(result_.type == ElementType::F64),
        kernel_strides_(row_major_strides(kernel_.dims)) {}

  bool leaves_lanes_empty() const {
    return !is_depthwise() && group_columns() < LoopLimits::min_lane_features;
  }
  bool is_quick_by_element() const { return hilo::is_quick_by_element(a_, kernel_.dims); }

  bool by_inputs() const {
    return a_.feature_group_count == 1 && features() >= LoopLimits::min_lane_features &&
           (columns() < LoopLimits::min_lane_features || fills_half_of_lanes()) &&
           (kernel_strides_[at(labels_.kernel_input_feature)] == 1 || is_transposed_here());
  }

  // has_few: has_few_products().
  std::optional<NoKernel> refusal(bool are_in_arrays, bool has_few) const {
    if (!are_in_arrays) return NoKernel::NotInArrays;
    if (!has_lanes(input_.type) || !has_lanes(kernel_.type) || !has_lanes(result_.type) ||
        ((input_.type == ElementType::F64 || kernel_.type == ElementType::F64) && !is_wide_))
      return NoKernel::TheseTypes;
    if (a_.batch_group_count != 1) return NoKernel::BatchGroups;
    if (a_.window.dims.empty() || element_count(result_.dims) == 0 || features() == 0)
      return NoKernel::Nothing;
    if (row_major_strides(input_.dims)[at(labels_.input_feature)] != 1 ||
        features() > LoopLimits::longest_line ||
        (kernel_strides_[at(labels_.kernel_output_feature)] != 1 && !by_inputs()) ||
        row_major_strides(result_.dims)[at(labels_.output_feature)] != 1)
      return NoKernel::FeaturesApart;
    if (is_depthwise())
      return columns() > longest_zeros ? std::optional(NoKernel::TooManyFeatures) : std::nullopt;
    if (by_inputs()) return std::nullopt;
    if (leaves_lanes_empty() && !has_few) return NoKernel::FewFeatures;
    return is_for_library() ? std::optional(NoKernel::LargeKernel) : std::nullopt;
  }

 private:
  int64_t features() const { return kernel_.dims[at(labels_.kernel_input_feature)]; }
  int64_t columns() const { return kernel_.dims[at(labels_.kernel_output_feature)]; }
  int64_t group_columns() const { return columns() / a_.feature_group_count; }
  bool is_depthwise() const {
    return a_.feature_group_count > 1 && features() == 1 && group_columns() == 1;
  }
  // Each block of places reads the whole kernel: one that does not stay in a core's cache beside
  // the input is better read once for many more places, as a product. So is bf16 where pairs of it
  // are multiplied at once, which the code here does not. An object by itself has no library.
  bool is_for_library() const {
    if (!chip_.has_routines || is_wide_) return false;
    const auto is_dense = [](const WindowDim& dim) {
      return dim.stride == 1 && dim.window_dilation == 1;
    };
    const auto has_holes = [](const WindowDim& dim) { return dim.base_dilation > 1; };
    if (std::ranges::any_of(a_.window.dims, has_holes) &&
        !std::ranges::all_of(a_.window.dims, is_dense))
      return false;
    if (input_.type == ElementType::BF16 && kernel_.type == ElementType::BF16 &&
        features() >= LoopLimits::min_paired_features && processor().has_fast_bf16())
      return true;
    const int64_t places = element_count(result_.dims) / columns();
    return places >= LoopLimits::min_library_positions &&
           element_count(kernel_.dims) / a_.feature_group_count >= LoopLimits::large_kernel;
  }
  // Of as many output features as are half of a register the sums along whole ones of input
  // features, that are many, take less time, where registers hold those of several places.
  bool fills_half_of_lanes() const {
    return chip_.registers.are_many() && 2 * columns() == chip_.registers.lanes(is_wide_ ? 8 : 4) &&
           features() % LoopLimits::whole_features == 0 &&
           element_count(kernel_.dims) >= LoopLimits::min_kernel_products * columns();
  }
  // A small kernel whose output features lie side by side.
  bool is_transposed_here() const {
    return element_count(kernel_.dims) <= LoopLimits::small_kernel &&
           features() % LoopLimits::whole_features == 0 &&
           (kernel_.type == ElementType::F32 || kernel_.type == ElementType::F64) &&
           kernel_.type == result_.type &&
           kernel_strides_[at(labels_.kernel_output_feature)] == 1 &&
           kernel_strides_[at(labels_.kernel_input_feature)] == columns();
  }

  const ConvolutionAttributes& a_;
  const ConvolutionLabels& labels_;
  const Shape &input_, &kernel_, &result_;
  const KernelChip& chip_;
  const bool is_wide_;
  const Dims kernel_strides_;
};

}  // namespace

bool has_few_products(const Module& module, InstructionId convolution) {
  const auto& a = module.attributes<ConvolutionAttributes>(convolution);
  const Dims& kernel = module.shape(module.operand(convolution, 1)).dims;
  const std::optional<int64_t> products = product_count(a, kernel);
  const ElementType type = module.shape(convolution).type;
  const auto fits = [&](InstructionId operand) {
    const Shape& shape = module.shape(operand);
    return is_floating(shape.type) && element_count(shape) > 0 &&
           (shape.type != ElementType::F64 || type == ElementType::F64);
  };
  return a.batch_group_count == 1 && is_floating(type) && products.value_or(0) > 0 &&
         std::ranges::all_of(module.operands(convolution), fits);
}

std::expected<ConvolutionKernel, NoKernel> convolution_kernel(const Module& module,
                                                              InstructionId id,
                                                              const HasArray& has_array,
                                                              const KernelChip& chip) {
  const Convolution convolution(module, id, chip);
  const bool has_few = has_few_products(module, id);
  const bool are_in_arrays = has_array(module.operand(id, 0)) && has_array(module.operand(id, 1));
  const std::optional<NoKernel> refusal = convolution.refusal(are_in_arrays, has_few);
  if (convolution.leaves_lanes_empty() && has_few && (refusal || convolution.is_quick_by_element()))
    return ConvolutionKernel{.by_elements = true};
  if (refusal) return std::unexpected(*refusal);
  return ConvolutionKernel{.by_inputs = convolution.by_inputs()};
}

}  // namespace hilo

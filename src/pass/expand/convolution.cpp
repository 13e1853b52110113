// Convolutions in one form: batch first, features last, the kernel's spatial dimensions before its
// features (b01f_01io->b01f); those that are matrix products become such.
//   convolution(x, k), labels L => transpose(convolution(transpose(x), transpose(k)),
//   b01f_01io->b01f) a window of one element, steps of one, one group => dot([n,i] of x, [i,o] of
//   k)
// Assumes nothing. Later passes may assume that form. After simplification, before matrix products
// get theirs.
#include <algorithm>

#include "pass/expand/formula.h"

namespace hilo {
namespace {

Dims in_order(int64_t first, const Dims& spatial, int64_t last) {
  Dims out = {first};
  out.insert(out.end(), spatial.begin(), spatial.end());
  out.push_back(last);
  return out;
}

Dims kernel_order(const ConvolutionLabels& labels) {
  Dims out = labels.kernel_spatial;
  out.push_back(labels.kernel_input_feature);
  out.push_back(labels.kernel_output_feature);
  return out;
}

ConvolutionLabels form_of(int64_t spatial) {
  ConvolutionLabels out;
  for (int64_t i = 0; i < spatial; ++i) {
    out.input_spatial.push_back(i + 1), out.output_spatial.push_back(i + 1);
    out.kernel_spatial.push_back(i);
  }
  out.input_batch = out.output_batch = 0;
  out.input_feature = out.output_feature = spatial + 1;
  out.kernel_input_feature = spatial, out.kernel_output_feature = spatial + 1;
  return out;
}

bool is_product(const ConvolutionAttributes& a) {
  return a.feature_group_count == 1 && a.batch_group_count == 1 &&
         std::ranges::all_of(a.window.dims, [](const WindowDim& dim) {
           return dim.size == 1 && dim.stride == 1 && dim.padding_low == 0 &&
                  dim.padding_high == 0 && dim.base_dilation == 1;
         });
}

// y[n,o] = Σ x[n,i] k[i,o], n the batch and all places together.
Term product(Formula& f, Term x, Term kernel, const ConvolutionAttributes& a, ElementType type) {
  const Dims dims = x.shape().dims, of_kernel = kernel.shape().dims;
  const int64_t features = dims.back(), made = of_kernel.back();
  const int64_t count = element_count(std::span(dims).first(dims.size() - 1));
  DotAttributes dot{{}, {1}, {}, {0}};
  dot.operand_precision = a.operand_precision;
  dot.algorithm = a.algorithm;
  Dims result = dims;
  result.back() = made;
  return f.reshape(f.dot(f.reshape(x, {count, features}), f.reshape(kernel, {features, made}),
                         std::move(dot), type),
                   result);
}

Term expand_convolution(Formula& f) {
  const ConvolutionAttributes a = f.module().attributes<ConvolutionAttributes>(f.root());
  const ConvolutionLabels& labels = a.dim_labels;
  if (!labels.input_unknown.empty() || !labels.kernel_unknown.empty() ||
      !a.sparsity_config.text.empty() || a.convolution_kind != ConvolutionKind::Unset)
    return {};
  const Shape result = f.module().shape(f.root());
  const ConvolutionLabels form = form_of(static_cast<int64_t>(labels.input_spatial.size()));
  if (labels == form && !is_product(a)) return {};
  const Term x = f.transpose(
      f.operand(0), in_order(labels.input_batch, labels.input_spatial, labels.input_feature));
  const Term kernel = f.transpose(f.operand(1), kernel_order(labels));
  Dims place(result.dims.size());  // of each of the result's dimensions in the form
  const Dims order = in_order(labels.output_batch, labels.output_spatial, labels.output_feature);
  for (size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<int64_t>(i);
  if (is_product(a)) return f.transpose(product(f, x, kernel, a, result.type), place);
  ConvolutionAttributes formed = a;
  formed.dim_labels = form;
  const Term made = f.term(f.editor().add_inferred(
      f.root(), Op::Convolution, std::array{x.value, kernel.value}, std::move(formed)));
  f.editor().set_shape(made.value, Shape::array(result.type, Dims(made.shape().dims)));
  return f.transpose(made, place);
}

}  // namespace

Result<bool> canonicalize_convolutions(Module& module, const PassOptions&) {
  Editor editor(module);
  return expand(editor, Op::Convolution, expand_convolution);
}

}  // namespace hilo

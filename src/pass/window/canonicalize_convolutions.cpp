// Puts convolutions in the order of dimensions that loops over registers read: features last, side
// by side.
//
//   convolution(x, w), bf01_oi01->bf01
//     => transpose(convolution(transpose(x), transpose(w)), b01f_01io->b01f)
//     with few outputs => transpose(convolution(transpose(x), transpose(w)), b01f_01oi->b01f)
//   convolution(x, w), 0bf_oi0->0bf, size=1 => dot(x, reshape(w))
//     for windows of one element, or none
//   convolution(x, w) of f16 or bf16 => convolution(convert(x), convert(w)) of f32
//     where loops over registers would convert each element for every place of the window
//   convolution(x, w), batch_group_count=g => convolution(x', w), feature_group_count=g
//     where the groups of the batch, which have kernels of their own, are groups of features; and
//     where these are single places with one kernel each (gradients of depthwise convolutions) the
//     features are one more dimension of the window
//
// Assumes plain layouts. Moving each array once costs little beside the products over the window.
// Stands before simplify, which joins transposes.
#include "pass/pass.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "pass/layout/permutation.h"
#include "pass/replace_each.h"

namespace hilo {
namespace {

bool is_real(ElementType type) {
  return type == ElementType::F32 || type == ElementType::F64 || type == ElementType::BF16 ||
         type == ElementType::F16;
}

// Where each dimension of the plain order stands.
struct Order {
  Dims input, kernel, result;
};
Order order_of(const ConvolutionLabels& l, bool inputs_last) {
  Order out{l.input_spatial, l.kernel_spatial, l.output_spatial};
  out.input.insert(out.input.begin(), l.input_batch);
  out.input.push_back(l.input_feature);
  out.kernel.push_back(inputs_last ? l.kernel_output_feature : l.kernel_input_feature);
  out.kernel.push_back(inputs_last ? l.kernel_input_feature : l.kernel_output_feature);
  out.result.insert(out.result.begin(), l.output_batch);
  out.result.push_back(l.output_feature);
  return out;
}

ConvolutionLabels plain_labels(size_t spatial, bool inputs_last = false) {
  ConvolutionLabels out;
  const auto n = static_cast<int64_t>(spatial);
  Dims first(spatial), second(spatial);
  std::iota(first.begin(), first.end(), 0);
  std::iota(second.begin(), second.end(), 1);
  out.input_spatial = out.output_spatial = second;
  out.kernel_spatial = first;
  out.input_feature = out.output_feature = n + 1;
  out.kernel_input_feature = n + inputs_last, out.kernel_output_feature = n + !inputs_last;
  return out;
}

bool is_ascending(const Dims& order) {
  for (size_t i = 0; i < order.size(); ++i)
    if (order[i] != static_cast<int64_t>(i)) return false;
  return true;
}

InstructionId widened(Editor& editor, InstructionId like, InstructionId value) {
  const Shape from = editor.module().shape(value);
  if (bits_of(from.type) >= 32) return value;
  return editor.add(like, Op::Convert, Shape::array(ElementType::F32, from.dims), {&value, 1});
}

InstructionId transposed(Editor& editor, InstructionId like, InstructionId value,
                         const Dims& order) {
  if (is_ascending(order)) return value;
  const Shape from = editor.module().shape(value);
  return editor.add(like, Op::Transpose, Shape::array(from.type, permuted(from.dims, order)),
                    {&value, 1}, DimensionsAttributes{order});
}

// Whether the plain form has code; see emit/convolution.cpp.
bool has_code(const ConvolutionAttributes& a, const Shape& kernel) {
  const auto size = [&](int64_t dim) { return kernel.dims[static_cast<size_t>(dim)]; };
  const int64_t inputs = size(a.dim_labels.kernel_input_feature),
                outputs = size(a.dim_labels.kernel_output_feature) / a.feature_group_count;
  return outputs >= LoopLimits::min_lane_features || (inputs == 1 && outputs == 1);
}

// Few outputs are sums along the inputs, which then stand last in the kernel, where there are
// enough of them; filters of few products have code of their own.
bool sums_inputs(const ConvolutionAttributes& a, const Shape& kernel) {
  const auto size = [&](int64_t dim) { return kernel.dims[static_cast<size_t>(dim)]; };
  const int64_t outputs = size(a.dim_labels.kernel_output_feature),
                inputs = size(a.dim_labels.kernel_input_feature);
  if (a.feature_group_count != 1 || outputs == 0 || outputs > LoopLimits::min_lane_features)
    return false;
  const int64_t products = element_count(kernel.dims) / outputs;
  if (outputs == LoopLimits::min_lane_features)
    return processor().has_avx512 && kernel.type != ElementType::F64 &&
           inputs % LoopLimits::whole_features == 0 && products >= LoopLimits::min_kernel_products;
  return inputs >= LoopLimits::min_lane_features && products > LoopLimits::max_products;
}

// Small kernels are transposed where they are read (emit/convolution.cpp).
bool is_transposed_there(const ConvolutionAttributes& a, const Shape& kernel, ElementType made) {
  const int64_t features = kernel.dims[static_cast<size_t>(a.dim_labels.kernel_input_feature)];
  return is_ascending(order_of(a.dim_labels, false).kernel) && bits_of(kernel.type) >= 32 &&
         made == kernel.type && element_count(kernel.dims) <= LoopLimits::small_kernel &&
         features % LoopLimits::whole_features == 0;
}

// Large kernels are products of packed operands (emit/convolution.cpp), and these are packed as
// fast where the arrays lie: where lanes of rows, or a window's line, stand side by side in the
// input, as in gradients of kernels, whose windows are whole images.
constexpr int64_t long_run = 8;
bool is_packed_where_it_lies(const ConvolutionAttributes& a, const Shape& input,
                             const Shape& kernel, const Shape& result) {
  const ConvolutionLabels& l = a.dim_labels;
  const int64_t features = kernel.dims[static_cast<size_t>(l.kernel_output_feature)];
  if (a.feature_group_count != 1 || element_count(kernel.dims) < LoopLimits::large_kernel ||
      element_count(result.dims) < LoopLimits::min_library_positions * features ||
      result.type == ElementType::F64 ||
      std::ranges::any_of(a.window.dims, [](const WindowDim& d) { return d.base_dilation > 1; }))
    return false;
  int64_t last = input.rank() - 1;
  while (last > 0 && input.dims[static_cast<size_t>(last)] == 1) --last;
  if (last == l.input_batch) return input.dims[static_cast<size_t>(last)] >= long_run;
  for (size_t d = 0; d < a.window.dims.size(); ++d)
    if (l.input_spatial[d] == last)
      return a.window.dims[d].size >= long_run && a.window.dims[d].window_dilation == 1;
  return false;
}

// Loops over registers convert what a place of the window sees; products of packed operands do so
// once, and of bf16 may not need to.
bool is_better_wide(const ConvolutionAttributes& a, const Shape& input, const Shape& kernel,
                    const Shape& result) {
  constexpr int64_t enough_seen = 3;  // places of the window
  const ConvolutionLabels& l = a.dim_labels;
  const auto size = [&](int64_t dim) { return kernel.dims[static_cast<size_t>(dim)]; };
  const bool is_bf16 = input.type == ElementType::BF16 && kernel.type == ElementType::BF16;
  const int64_t features = size(l.kernel_input_feature), made = size(l.kernel_output_feature);
  int64_t seen = 1;
  for (const WindowDim& dim : a.window.dims) seen *= dim.size;
  return std::min(bits_of(input.type), bits_of(kernel.type)) < 32 &&
         result.type != ElementType::F64 && seen >= enough_seen &&
         made / a.feature_group_count >= LoopLimits::min_lane_features &&
         (element_count(kernel.dims) / a.feature_group_count < LoopLimits::large_kernel ||
          element_count(result.dims) < LoopLimits::min_library_positions * made) &&
         !(is_bf16 && features >= LoopLimits::min_paired_features && processor().has_fast_bf16());
}

// Every place of the result is a product of the features of one place of the input.
bool is_product(const ConvolutionAttributes& a) {
  return a.feature_group_count == 1 && std::ranges::all_of(a.window.dims, [](const WindowDim& d) {
           return d.size == 1 && d.stride == 1 && d.padding_low == 0 && d.padding_high == 0 &&
                  d.base_dilation == 1;
         });
}

// The product reads its operands where they lie: its rows are the places of the input in their
// order.
InstructionId product_form(Editor& editor, InstructionId id, const ConvolutionAttributes& a) {
  const Module& module = editor.module();
  const ConvolutionLabels& l = a.dim_labels;
  const InstructionId input = module.operand(id, 0);
  InstructionId kernel = module.operand(id, 1);
  const Shape shape = module.shape(id), of_kernel = module.shape(kernel);
  Dims place(shape.dims.size());  // of each of the input's dimensions in the result
  place[static_cast<size_t>(l.input_batch)] = l.output_batch;
  for (size_t i = 0; i < l.input_spatial.size(); ++i)
    place[static_cast<size_t>(l.input_spatial[i])] = l.output_spatial[i];
  // Where the features of both stand before their places the kernel is the left operand.
  const auto precedes = [](int64_t feature, const Dims& places) {
    return std::ranges::all_of(places, [&](int64_t place) { return feature < place; });
  };
  const bool kernel_first = !l.input_spatial.empty() &&
                            precedes(l.input_feature, l.input_spatial) &&
                            precedes(l.output_feature, l.output_spatial);
  Dims order;  // of the product's dimensions
  for (size_t d = 0; d < place.size(); ++d)
    if (static_cast<int64_t>(d) != l.input_feature) order.push_back(place[d]);
  order.insert(kernel_first ? order.begin() : order.end(), l.output_feature);
  const bool inputs_first = l.kernel_input_feature < l.kernel_output_feature;
  Dims features = {of_kernel.dims[static_cast<size_t>(l.kernel_input_feature)],
                   of_kernel.dims[static_cast<size_t>(l.kernel_output_feature)]};
  if (!inputs_first) std::swap(features[0], features[1]);
  if (of_kernel.dims.size() > 2)
    kernel = editor.add(id, Op::Reshape, Shape::array(of_kernel.type, features), {&kernel, 1});
  DotAttributes product;
  product.lhs_contracting_dims = {l.input_feature};
  product.rhs_contracting_dims = {inputs_first ? 0 : 1};
  product.operand_precision = a.operand_precision;
  InstructionId operands[] = {input, kernel};
  if (kernel_first) {
    std::swap(product.lhs_contracting_dims, product.rhs_contracting_dims);
    std::ranges::reverse(product.operand_precision);
    std::swap(operands[0], operands[1]);
  }
  const InstructionId out = editor.add(
      id, Op::Dot, Shape::array(shape.type, permuted(shape.dims, order)), operands, product);
  return transposed(editor, id, out, inverse_order(order));
}

InstructionId reshaped(Editor& editor, InstructionId like, InstructionId value, Dims dims) {
  const ElementType type = editor.module().shape(value).type;
  return editor.add(like, Op::Reshape, Shape::array(type, std::move(dims)), {&value, 1});
}

// Dimension `from` moved to stand as number `to`.
Dims moved(size_t rank, size_t from, size_t to) {
  Dims out(rank);
  std::iota(out.begin(), out.end(), 0);
  out.erase(out.begin() + static_cast<int64_t>(from));
  out.insert(out.begin() + static_cast<int64_t>(to), static_cast<int64_t>(from));
  return out;
}

// Groups of the batch as groups of features.
InstructionId form_of_batch_groups(Editor& editor, InstructionId id) {
  const Module& module = editor.module();
  ConvolutionAttributes a = module.attributes<ConvolutionAttributes>(id);
  const int64_t groups = std::exchange(a.batch_group_count, 1);
  const Shape shape = module.shape(id);
  const Order order = order_of(a.dim_labels, false);
  InstructionId input = transposed(editor, id, module.operand(id, 0), order.input),
                kernel = transposed(editor, id, module.operand(id, 1), order.kernel);
  Dims dims = module.shape(input).dims, of_kernel = module.shape(kernel).dims;
  Dims result = permuted(shape.dims, order.result);
  size_t spatial = a.dim_labels.output_spatial.size();
  if (dims.front() == groups && of_kernel.back() == groups) {
    input = transposed(editor, id, input, moved(dims.size(), dims.size() - 1, 0));
    input = transposed(editor, id, input, moved(dims.size(), 1, dims.size() - 1));
    kernel = transposed(editor, id, kernel, moved(of_kernel.size(), spatial, 0));
    dims = module.shape(input).dims, of_kernel = module.shape(kernel).dims;
    a.window.dims.insert(a.window.dims.begin(), WindowDim{.size = dims.front()});
    dims.insert(dims.begin(), 1), result.insert(result.begin(), 1);
    of_kernel.insert(of_kernel.end() - 1, 1);
    ++spatial;
  } else {
    Dims apart = dims;
    apart.front() /= groups;
    apart.insert(apart.begin(), groups);
    input = transposed(editor, id, reshaped(editor, id, input, apart),
                       moved(apart.size(), 0, apart.size() - 2));
    dims.front() /= groups, dims.back() *= groups;
  }
  a.feature_group_count = groups;
  a.dim_labels = plain_labels(spatial);
  const InstructionId operands[] = {reshaped(editor, id, input, dims),
                                    reshaped(editor, id, kernel, of_kernel)};
  const InstructionId out =
      editor.add(id, Op::Convolution, Shape::array(shape.type, result), operands, a);
  return transposed(editor, id, reshaped(editor, id, out, permuted(shape.dims, order.result)),
                    inverse_order(order.result));
}

// Whether that form has code.
bool has_code_by_features(const ConvolutionAttributes& a, const Shape& input, const Shape& kernel) {
  const int64_t batch = input.dims[static_cast<size_t>(a.dim_labels.input_batch)],
                made = kernel.dims[static_cast<size_t>(a.dim_labels.kernel_output_feature)];
  return a.feature_group_count == 1 && !a.dim_labels.output_spatial.empty() &&
         (made / a.batch_group_count >= LoopLimits::min_lane_features ||
          (batch == a.batch_group_count && made == batch));
}

// A value to stand for the convolution, or none.
InstructionId plain_form(Editor& editor, InstructionId id) {
  const Module& module = editor.module();
  const ConvolutionAttributes a = module.attributes<ConvolutionAttributes>(id);
  const InstructionId input = module.operand(id, 0), kernel = module.operand(id, 1);
  const Shape shape = module.shape(id);
  for (const Shape* one : {&shape, &module.shape(input), &module.shape(kernel)})
    if (!is_real(one->type) || one->has_dynamic_dims()) return {};
  const ConvolutionLabels& l = a.dim_labels;
  const size_t spatial = l.output_spatial.size();
  if (!a.sparsity_config.text.empty() || !l.input_unknown.empty() || !l.kernel_unknown.empty() ||
      a.feature_group_count < 1 || a.batch_group_count < 1)
    return {};
  if (a.batch_group_count > 1)
    return has_code_by_features(a, module.shape(input), module.shape(kernel))
               ? form_of_batch_groups(editor, id)
               : InstructionId{};
  if (is_product(a)) return product_form(editor, id, a);
  const bool sums = sums_inputs(a, module.shape(kernel));
  const bool inputs_last = sums && !is_transposed_there(a, module.shape(kernel), shape.type);
  const Order order = order_of(l, inputs_last);
  const bool is_plain =
      is_ascending(order.input) && is_ascending(order.kernel) && is_ascending(order.result);
  if (is_packed_where_it_lies(a, module.shape(input), module.shape(kernel), shape)) return {};
  const bool widens = is_better_wide(a, module.shape(input), module.shape(kernel), shape);
  if ((is_plain && !widens) || spatial == 0 || !(sums || has_code(a, module.shape(kernel))))
    return {};
  InstructionId operands[] = {input, kernel};
  if (widens)
    for (InstructionId& operand : operands) operand = widened(editor, id, operand);
  operands[0] = transposed(editor, id, operands[0], order.input);
  operands[1] = transposed(editor, id, operands[1], order.kernel);
  const Shape result = Shape::array(shape.type, permuted(shape.dims, order.result));
  ConvolutionAttributes plain = a;
  plain.dim_labels = plain_labels(spatial, inputs_last);
  const InstructionId out = editor.add(id, Op::Convolution, result, operands, plain);
  return transposed(editor, id, out, inverse_order(order.result));
}

}  // namespace

Result<bool> canonicalize_convolutions_for_loops(Module& module, const PassOptions&) {
  return replace_each(module, Op::Convolution, plain_form);
}

}  // namespace hilo

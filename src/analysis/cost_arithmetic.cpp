// Operations of each op, one function for each attribute struct that has some. They differ from
// HloCostAnalysis in: fft (the sum of the logarithms over several dimensions, not their product),
// ragged-dot (it counts no products), topk, batch-norm and reduce-scatter (it counts nothing).
#include <algorithm>
#include <cmath>

#include "analysis/cost.h"

namespace hilo {
namespace {

Cost flops(double number) { return {.flops = number}; }
Cost transcendentals(double number) { return {.transcendentals = number}; }

// So many runs of an applied computation.
Cost applied(const Counting& counting, ComputationId computation, double times) {
  const Cost& inside = counting.inside[computation.value];
  return {.flops = inside.flops * times,
          .transcendentals = inside.transcendentals * times,
          .flops_known = inside.flops_known};
}

double ceil_log2(double n) { return n > 1 ? std::ceil(std::log2(n)) : 0; }

double window_elements(const Window& window) {
  double out = 1;
  for (const WindowDim& dim : window.dims) out *= static_cast<double>(dim.size);
  return out;
}

double first_leaf_elements(const Shape& shape) {
  const Shape* leaf = &shape;
  while (leaf->is_tuple() && !leaf->elements.empty()) leaf = &leaf->elements[0];
  return elements_of(*leaf);
}

// Ops without arithmetic: they move bytes, or do not even that.
template <class A>
Cost arithmetic(const Counting&, const Instruction&, const A&) {
  return {};
}

// HloCostAnalysis takes a change of type for work, whatever becomes of the bits.
Cost arithmetic(const Counting& counting, const Instruction& i, const NoneAttributes&) {
  return flops(i.op == Op::BitcastConvert ? elements_of(counting.module.shape(i)) : 0);
}
Cost arithmetic(const Counting& counting, const Instruction& i, const MapAttributes& a) {
  return applied(counting, a.to_apply, elements_of(counting.module.shape(i)));
}
Cost arithmetic(const Counting& counting, const Instruction& i, const ReduceAttributes& a) {
  const double in = elements_of(counting.operand_shape(i, 0));
  const double out = first_leaf_elements(counting.module.shape(i));
  return applied(counting, a.to_apply, std::max(0.0, in - out));
}
Cost arithmetic(const Counting& counting, const Instruction& i, const ReduceWindowAttributes& a) {
  const double out = first_leaf_elements(counting.module.shape(i));
  return applied(counting, a.to_apply, out * (window_elements(a.window) - 1));
}
// to_apply works on slices, one for each index of the dimension.
Cost arithmetic(const Counting& counting, const Instruction& i, const ScanAttributes& a) {
  const Shape& input = counting.operand_shape(i, 0);
  const size_t dim = static_cast<size_t>(a.dimensions.empty() ? 0 : a.dimensions[0]);
  const double steps = dim < input.dims.size() ? static_cast<double>(input.dims[dim]) : 1;
  return applied(counting, a.to_apply, steps);
}
Cost arithmetic(const Counting& counting, const Instruction& i, const ScatterAttributes& a) {
  const Shape& updates = counting.operand_shape(i, i.operand_count - 1);
  return applied(counting, a.to_apply, elements_of(updates));
}
Cost arithmetic(const Counting& counting, const Instruction& i,
                const SelectAndScatterAttributes& a) {
  const double sources = elements_of(counting.operand_shape(i, 1));
  Cost cost = applied(counting, a.select, sources * (window_elements(a.window) - 1));
  const Cost scatter = applied(counting, a.scatter, sources);
  cost.flops += scatter.flops, cost.transcendentals += scatter.transcendentals;
  return cost;
}
Cost arithmetic(const Counting& counting, const Instruction& i, const SortAttributes&) {
  return flops(sort_flops(elements_of(counting.operand_shape(i, 0))));
}
// One comparison of each element with the smallest that is kept.
Cost arithmetic(const Counting& counting, const Instruction& i, const TopKAttributes&) {
  return flops(elements_of(counting.operand_shape(i, 0)));
}

// Operations an element: normalising takes 3; mean and variance 4 more; a gradient the two sums
// over dy and dy * (x - mean) with 4, and dy - a - (x - mean) * b, scaled, with 4. A root a
// feature.
Cost arithmetic(const Counting& counting, const Instruction& i, const BatchNormAttributes&) {
  double per_element = 3;
  if (i.op == Op::BatchNormTraining) per_element = 7;
  if (i.op == Op::BatchNormGrad) per_element = 8;
  return {.flops = per_element * elements_of(counting.operand_shape(i, 0)),
          .transcendentals = elements_of(counting.operand_shape(i, 1))};
}
Cost arithmetic(const Counting& counting, const Instruction& i, const CholeskyAttributes&) {
  const Shape& a = counting.operand_shape(i, 0);
  if (a.dims.empty()) return {};
  return flops(std::floor(elements_of(a) * static_cast<double>(a.dims.back()) / 3));
}
Cost arithmetic(const Counting& counting, const Instruction& i, const TriangularSolveAttributes&) {
  const Shape& a = counting.operand_shape(i, 0);
  if (a.dims.empty()) return {};
  return flops(triangular_solve_flops(a.dims.back(), elements_of(counting.operand_shape(i, 1))));
}
// A butterfly is a complex product and sum for two elements: 8 operations an element and level.
Cost arithmetic(const Counting& counting, const Instruction& i, const FftAttributes& a) {
  double levels = 0;
  for (int64_t length : a.fft_length)
    if (length > 1) levels += std::floor(std::log2(static_cast<double>(length)));
  return flops(8 * levels * elements_of(counting.operand_shape(i, 0)));
}
Cost arithmetic(const Counting& counting, const Instruction& i, const ConvolutionAttributes& a) {
  const ConvolutionSizes sizes{a.window, a.dim_labels, counting.operand_shape(i, 0),
                               counting.operand_shape(i, 1), counting.module.shape(i)};
  const std::optional<double> count = convolution_flops(sizes);
  return {.flops = count.value_or(0), .flops_known = count.has_value()};
}
Cost arithmetic(const Counting& counting, const Instruction& i, const DotAttributes& a) {
  return flops(
      dot_flops(counting.operand_shape(i, 0), a.lhs_contracting_dims, counting.module.shape(i)));
}
// Each row meets one group only; a ragged contracting dimension is split among the groups, and then
// the result has one matrix a group.
Cost arithmetic(const Counting& counting, const Instruction& i, const RaggedDotAttributes& a) {
  const Shape &lhs = counting.operand_shape(i, 0), &result = counting.module.shape(i);
  double number = dot_flops(lhs, a.lhs_contracting_dims, result);
  const bool splits_sum = std::ranges::any_of(a.lhs_ragged_dims, [&](int64_t d) {
    return std::ranges::find(a.lhs_contracting_dims, d) != a.lhs_contracting_dims.end();
  });
  if (splits_sum) number /= std::max(1.0, elements_of(counting.operand_shape(i, 2)));
  return flops(number);
}
Cost arithmetic(const Counting& counting, const Instruction& i, const RngAttributes&) {
  return transcendentals(elements_of(counting.module.shape(i)));
}
Cost arithmetic(const Counting& counting, const Instruction& i, const RngBitGeneratorAttributes&) {
  return transcendentals(elements_of(counting.module.shape(i)));
}
// One combination for each element that arrives, as with two participants.
Cost arithmetic(const Counting& counting, const Instruction& i, const AllReduceAttributes&) {
  return flops(elements_of(counting.module.shape(i)));
}
Cost arithmetic(const Counting& counting, const Instruction& i, const ReduceScatterAttributes&) {
  return flops(elements_of(counting.module.shape(i)));
}
Cost arithmetic(const Counting& counting, const Instruction&, const FusionAttributes& a) {
  return applied(counting, a.calls, 1);
}
Cost arithmetic(const Counting&, const Instruction&, const CustomCallAttributes&) {
  return {.flops_known = false};
}

}  // namespace

double elements_of(const Shape& shape) {
  if (!shape.is_tuple()) return shape.is_array() ? static_cast<double>(element_count(shape)) : 0;
  double sum = 0;
  for_each_leaf(shape, [&](const Shape& leaf, std::span<const int64_t>) {
    if (leaf.is_array()) sum += static_cast<double>(element_count(leaf));
  });
  return sum;
}

double dot_flops(const Shape& lhs, const Dims& lhs_contracting, const Shape& result) {
  double contracted = 1;
  for (int64_t d : lhs_contracting)
    if (d >= 0 && d < lhs.rank()) contracted *= static_cast<double>(lhs.dims[d]);
  return 2 * elements_of(result) * contracted;
}

double sort_flops(double elements) { return elements * ceil_log2(elements); }

double triangular_solve_flops(int64_t order, double elements) {
  return 2 * static_cast<double>(order) * elements;
}

Cost arithmetic_of(const Counting& counting, const Instruction& instruction) {
  if (is_elementwise(instruction.op)) {
    const double elements = elements_of(counting.module.shape(instruction));
    const bool steps = has_trait(instruction.op, TraitTranscendental);
    return steps ? transcendentals(elements) : flops(elements);
  }
  return visit_attributes_type(instruction.op, [&]<class A>(std::type_identity<A>) {
    return arithmetic(counting, instruction, counting.module.attributes<A>(instruction));
  });
}

}  // namespace hilo

// An operand of a small product whose batches, own or summed dimensions stand apart, as those of
// tensors with many legs, is transposed first, so that each of the three is one walk over memory
// and the product is loops:
//
//   dot(x[a, i, b, j], w[j, i, c])  =>  dot(transpose(x)[a, b, j, i], w[j, i, c])
//
// The pairs of summed dimensions are put in the order that transposes the fewest elements. Assumes
// plain layouts. Stands behind all that moves transposes into products.
#include "pass/pass.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "pass/layout/permutation.h"
#include "pass/replace_each.h"

namespace hilo {
namespace {

// Multiplications for each element that is transposed.
constexpr int64_t worth_transposing = 8;

// Whether the dimensions, in this order, are walked with one stride.
bool is_one_walk(const Dims& dims, const Dims& walked) {
  int64_t last = -1;  // the stride behind which the next dimension must follow
  for (size_t i = walked.size(); i-- > 0;) {
    const auto d = static_cast<size_t>(walked[i]);
    if (dims[d] == 1) continue;
    const int64_t stride =
        std::accumulate(dims.begin() + walked[i] + 1, dims.end(), int64_t{1}, std::multiplies<>());
    if (last >= 0 && stride != last) return false;
    last = stride * dims[d];
  }
  return true;
}

struct Operand {
  const Dims& dims;
  const Dims& batch;
  Dims summed;

  Dims own() const {
    Dims out;
    for (int64_t d = 0; d < std::ssize(dims); ++d)
      if (std::ranges::count(batch, d) + std::ranges::count(summed, d) == 0) out.push_back(d);
    return out;
  }
  bool is_walked() const {
    return is_one_walk(dims, batch) && is_one_walk(dims, own()) && is_one_walk(dims, summed);
  }
  int64_t elements() const { return element_count(dims); }
};

Dims in_order(const Dims& dims, const std::vector<size_t>& order) {
  Dims out;
  for (size_t i : order) out.push_back(dims[i]);
  return out;
}

// Batches first; then what is summed before or behind what is the operand's own.
InstructionId transposed_operand(Editor& editor, InstructionId dot, size_t number, Operand& operand,
                                 Dims& batch) {
  Dims order = operand.batch;
  const Dims own = operand.own();
  const bool is_left = number == 0;
  const Dims &first = is_left ? own : operand.summed, &second = is_left ? operand.summed : own;
  order.insert(order.end(), first.begin(), first.end());
  order.insert(order.end(), second.begin(), second.end());
  const size_t before = batch.size() + (is_left ? own.size() : 0);
  std::iota(operand.summed.begin(), operand.summed.end(), static_cast<int64_t>(before));
  std::iota(batch.begin(), batch.end(), 0);
  const InstructionId id = editor.module().operand(dot, number);
  const Shape shape = Shape::array(editor.module().shape(id).type, permuted(operand.dims, order));
  return editor.add(dot, Op::Transpose, shape, {&id, 1}, DimensionsAttributes{order});
}

int64_t count_of(const Dims& dims, const Dims& some) {
  int64_t out = 1;
  for (int64_t d : some) out *= dims[static_cast<size_t>(d)];
  return out;
}

// Multiplications of all batches, where each is small.
std::optional<int64_t> small_work(const Operand& lhs, const Operand& rhs) {
  const int64_t batches = count_of(lhs.dims, lhs.batch), rows = count_of(lhs.dims, lhs.own()),
                right = count_of(rhs.dims, rhs.own()) * count_of(rhs.dims, rhs.summed);
  if (rows > LoopLimits::small_product || right > LoopLimits::small_product ||
      rows * right > LoopLimits::small_product)
    return std::nullopt;
  return batches * rows * right;
}

// A product to stand for this one, or none.
InstructionId with_transposed_operands(Editor& editor, InstructionId dot) {
  const Module& module = editor.module();
  DotAttributes a = module.attributes<DotAttributes>(dot);
  const Shape result = module.shape(dot), left = module.shape(module.operand(dot, 0)),
              right = module.shape(module.operand(dot, 1));
  const auto is_fitting = [](const Shape& shape) {
    return (shape.type == ElementType::F32 || shape.type == ElementType::F64) &&
           !shape.has_dynamic_dims();
  };
  if (!a.sparsity.text.empty() || !is_fitting(result) || !is_fitting(left) || !is_fitting(right))
    return {};
  Operand lhs{left.dims, a.lhs_batch_dims, a.lhs_contracting_dims},
      rhs{right.dims, a.rhs_batch_dims, a.rhs_contracting_dims};
  const auto work = small_work(lhs, rhs);
  if (!work || (lhs.is_walked() && rhs.is_walked())) return {};
  std::vector<size_t> order(lhs.summed.size());
  std::iota(order.begin(), order.end(), size_t{0});
  int64_t fewest = lhs.elements() + rhs.elements() + 1;
  for (const Dims& by : {a.lhs_contracting_dims, a.rhs_contracting_dims}) {
    std::ranges::sort(order, {}, [&](size_t i) { return by[i]; });
    const Operand l{left.dims, a.lhs_batch_dims, in_order(a.lhs_contracting_dims, order)},
        r{right.dims, a.rhs_batch_dims, in_order(a.rhs_contracting_dims, order)};
    const int64_t moved = (l.is_walked() ? 0 : l.elements()) + (r.is_walked() ? 0 : r.elements());
    if (moved >= fewest) continue;
    fewest = moved;
    lhs.summed = l.summed, rhs.summed = r.summed;
  }
  if (*work <= worth_transposing * fewest) return {};
  InstructionId operands[] = {module.operand(dot, 0), module.operand(dot, 1)};
  Dims lhs_batch = a.lhs_batch_dims, rhs_batch = a.rhs_batch_dims;
  if (!lhs.is_walked()) operands[0] = transposed_operand(editor, dot, 0, lhs, lhs_batch);
  if (!rhs.is_walked()) operands[1] = transposed_operand(editor, dot, 1, rhs, rhs_batch);
  a.lhs_batch_dims = lhs_batch, a.rhs_batch_dims = rhs_batch;
  a.lhs_contracting_dims = lhs.summed, a.rhs_contracting_dims = rhs.summed;
  return editor.add(dot, Op::Dot, result, operands, a);
}

}  // namespace

Result<bool> transpose_operands(Module& module, const PassOptions&) {
  return replace_each(module, Op::Dot, with_transposed_operands);
}

}  // namespace hilo

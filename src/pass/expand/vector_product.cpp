// The product of a vector with a matrix that an elementwise op makes for it alone is a sum of an
// elementwise product, so that one loop makes the matrix, multiplies and adds, and it is never
// stored: of weights of 8 bits that are scaled only these are read.
//   dot(v, f(w)) => reduce(broadcast(v) * f(w)), transposed where batches were not in front
// Sums are f32, or f64 of such results. Assumes nothing. Later passes may assume nothing. Before
// fusion, and behind algebra, which takes transposes into products.
#include <algorithm>

#include "pass/expand/formula.h"
#include "pass/expand/product_side.h"

namespace hilo {
namespace {

// Elements of the matrix; smaller ones stay in the first cache when they are stored.
constexpr int64_t least_matrix = 1 << 13;
// Instructions that are looked at behind the matrix.
constexpr size_t most_seen = 16;

bool is_summed(const Shape& shape) {
  return shape.type == ElementType::F32 || shape.type == ElementType::F64 ||
         shape.type == ElementType::BF16 || shape.type == ElementType::F16;
}

// By one loop for this product alone. What is made of padded arrays has a loop of its own, which
// leaves the padding out.
bool is_computed(const Editor& editor, InstructionId matrix) {
  const Module& module = editor.module();
  if (!is_elementwise(module[matrix].op) || module[matrix].op == Op::Copy ||
      editor.use_count(matrix) != 1)
    return false;
  std::vector<InstructionId> seen = {matrix};
  for (size_t i = 0; i < seen.size(); ++i) {
    const Op op = module[seen[i]].op;
    if (op == Op::Pad || seen.size() > most_seen) return false;
    if (!is_elementwise(op) && op != Op::Broadcast && op != Op::Reshape) continue;
    for (InstructionId operand : module.operands(seen[i]))
      if (std::ranges::count(seen, operand) == 0) seen.push_back(operand);
  }
  return true;
}

// The vector where the matrix has its dimensions.
Term spread(Formula& f, Term vector, const ProductSide& from, const Shape& matrix,
            const ProductSide& to) {
  Dims order, dimensions, sizes;
  for (int64_t d = 0; d < matrix.rank(); ++d) {
    const auto batch = std::ranges::find(to.batch, d),
               summed = std::ranges::find(to.contracting, d);
    if (batch != to.batch.end())
      order.push_back(from.batch[static_cast<size_t>(batch - to.batch.begin())]);
    else if (summed != to.contracting.end())
      order.push_back(from.contracting[static_cast<size_t>(summed - to.contracting.begin())]);
    else continue;
    dimensions.push_back(d);
    sizes.push_back(matrix.dims[static_cast<size_t>(d)]);
  }
  order.insert(order.end(), from.free.begin(), from.free.end());
  return f.broadcast(f.reshape(f.transpose(vector, order), sizes), matrix.dims, dimensions);
}

Term sum_of(Formula& f, Term vector, const ProductSide& from, Term matrix, const ProductSide& to,
            const Shape& result) {
  const ElementType type = result.type == ElementType::F64 ? ElementType::F64 : ElementType::F32;
  const Shape shape = matrix.shape();
  const Term sum =
      f.sum(f.convert(matrix, type) * spread(f, f.convert(vector, type), from, shape, to),
            to.contracting);
  Dims wanted = to.batch, order;
  wanted.insert(wanted.end(), to.free.begin(), to.free.end());
  Dims given = wanted;
  std::ranges::sort(given);
  for (int64_t d : wanted) order.push_back(std::ranges::find(given, d) - given.begin());
  return f.convert(f.reshape(f.transpose(sum, order), result.dims), result.type);
}

Term expand_product(Formula& f) {
  const DotAttributes a = f.module().attributes<DotAttributes>(f.root());
  const Term x = f.operand(0), y = f.operand(1);
  const Shape left_shape = x.shape(), right_shape = y.shape(), result = f.module().shape(f.root());
  if (!is_summed(result) || !is_summed(left_shape) || left_shape.type != right_shape.type ||
      !a.sparsity.text.empty())
    return {};
  const ProductSide left(left_shape, a.lhs_batch_dims, a.lhs_contracting_dims);
  const ProductSide right(right_shape, a.rhs_batch_dims, a.rhs_contracting_dims);
  const auto fits = [&](const Shape& vector, const ProductSide& side, Term matrix) {
    return count_of(vector, side.free) == 1 && element_count(matrix.shape()) >= least_matrix &&
           is_computed(f.editor(), matrix.value);
  };
  if (fits(left_shape, left, y)) return sum_of(f, x, left, y, right, result);
  if (fits(right_shape, right, x)) return sum_of(f, y, right, x, left, result);
  return {};
}

}  // namespace

Result<bool> expand_vector_products(Module& module, const PassOptions&) {
  Editor editor(module);
  return expand(editor, Op::Dot, expand_product);
}

}  // namespace hilo

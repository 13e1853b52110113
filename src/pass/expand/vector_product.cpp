// The product of a vector with a matrix that an elementwise op makes for it alone is a sum of an
// elementwise product, so that one loop makes the matrix, multiplies and adds, and it is never
// stored: of weights of 8 bits that are scaled only these are read.
//   dot(v, f(w)) => reduce(broadcast(v) * f(w)), transposed where batches were not in front
// The matrix may be a reshape that joins dimensions, as of weights that are scaled in groups. Nor
// is it computed where the matrices of a batch stand between each other: a loop over what stands
// side by side multiplies all of them at once. Sums are f32, or f64 of such results. Assumes
// nothing. Later passes may assume nothing. Before fusion, and behind algebra, which takes
// transposes into products.
#include <algorithm>

#include "pass/expand/formula.h"
#include "pass/expand/product_side.h"

namespace hilo {
namespace {

// Elements of the matrix; smaller ones stay in the first cache when they are stored.
constexpr int64_t min_matrix_elements = 1 << 13;

// By one loop for this product alone. What is made of padded or joined arrays has a loop of its
// own, which does not choose for each element.
bool is_computed(const Editor& editor, InstructionId matrix) {
  const Module& module = editor.module();
  if (!is_elementwise(module[matrix].op) || module[matrix].op == Op::Copy ||
      editor.use_count(matrix) != 1)
    return false;
  std::vector<InstructionId> seen = {matrix};
  for (size_t i = 0; i < seen.size(); ++i) {
    const Op op = module[seen[i]].op;
    if (op == Op::Pad || op == Op::Concatenate || seen.size() > SearchBudget::max_visited)
      return false;
    if (!is_elementwise(op) && op != Op::Broadcast && op != Op::Reshape) continue;
    for (InstructionId operand : module.operands(seen[i]))
      if (std::ranges::count(seen, operand) == 0) seen.push_back(operand);
  }
  return true;
}

// The dimensions of an array that each one of its reshape is made of, which only joins some; or
// nothing.
std::optional<std::vector<Dims>> joined_dims(const Dims& from, const Dims& to) {
  std::vector<Dims> out;
  size_t next = 0;
  for (int64_t size : to) {
    out.emplace_back();
    int64_t count = 1;
    for (; next < from.size() && (count < size || from[next] == 1); ++next) {
      count *= from[next];
      out.back().push_back(static_cast<int64_t>(next));
    }
    if (count != size) return std::nullopt;
  }
  return out;
}

// A matrix and which of its dimensions each of the product's is made of.
struct Matrix {
  Term made;
  std::vector<Dims> parts;

  Dims parts_of(const Dims& dims) const {
    Dims out;
    for (int64_t d : dims)
      std::ranges::copy(parts[static_cast<size_t>(d)], std::back_inserter(out));
    return out;
  }
};

// Whether matrices of a batch stand element by element between each other, so that no walk along
// one of them reads what stands side by side.
bool are_interleaved(const Shape& shape, const ProductSide& side) {
  for (int64_t d = shape.rank(); d-- > 0;)
    if (shape.dims[static_cast<size_t>(d)] > 1) return std::ranges::count(side.batch, d) > 0;
  return false;
}

std::optional<Matrix> find_matrix(Formula& f, Term operand, const ProductSide& side) {
  const Module& module = f.module();
  if (element_count(operand.shape()) < min_matrix_elements) return std::nullopt;
  if (are_interleaved(operand.shape(), side)) {
    Matrix out{operand, {}};
    for (int64_t d = 0; d < operand.shape().rank(); ++d) out.parts.push_back({d});
    return out;
  }
  Term made = operand;
  if (module[made.value].op == Op::Reshape && f.editor().use_count(made.value) == 1)
    made = f.term(module.operand(made.value, 0));
  if (!is_computed(f.editor(), made.value)) return std::nullopt;
  auto parts = joined_dims(made.shape().dims, operand.shape().dims);
  if (!parts) return std::nullopt;
  return Matrix{made, *std::move(parts)};
}

// The vector where the matrix has its dimensions.
Term broadcast_vector(Formula& f, Term vector, const ProductSide& from, const Matrix& matrix,
                      const ProductSide& to) {
  const Dims all = matrix.made.shape().dims;
  Dims order, dimensions, sizes;
  for (int64_t d = 0; d < std::ssize(matrix.parts); ++d) {
    const auto batch = std::ranges::find(to.batch, d),
               summed = std::ranges::find(to.contracting, d);
    if (batch != to.batch.end())
      order.push_back(from.batch[static_cast<size_t>(batch - to.batch.begin())]);
    else if (summed != to.contracting.end())
      order.push_back(from.contracting[static_cast<size_t>(summed - to.contracting.begin())]);
    else continue;
    for (int64_t part : matrix.parts[static_cast<size_t>(d)]) {
      dimensions.push_back(part);
      sizes.push_back(all[static_cast<size_t>(part)]);
    }
  }
  order.insert(order.end(), from.free.begin(), from.free.end());
  return f.broadcast(f.reshape(f.transpose(vector, order), sizes), all, dimensions);
}

Term sum_of(Formula& f, Term vector, const ProductSide& from, const Matrix& matrix,
            const ProductSide& to, const Shape& result) {
  const ElementType type = result.type == ElementType::F64 ? ElementType::F64 : ElementType::F32;
  const Term sum = f.sum(
      f.convert(matrix.made, type) * broadcast_vector(f, f.convert(vector, type), from, matrix, to),
      matrix.parts_of(to.contracting));
  Dims wanted = to.batch, order;
  wanted.insert(wanted.end(), to.free.begin(), to.free.end());
  wanted = matrix.parts_of(wanted);
  Dims given = wanted;
  std::ranges::sort(given);
  for (int64_t d : wanted) order.push_back(std::ranges::find(given, d) - given.begin());
  return f.convert(f.reshape(f.transpose(sum, order), result.dims), result.type);
}

Term expand_product(Formula& f) {
  const DotAttributes a = f.module().attributes<DotAttributes>(f.root());
  const Term x = f.operand(0), y = f.operand(1);
  const Shape left_shape = x.shape(), right_shape = y.shape(), result = f.module().shape(f.root());
  if (!is_summed(result.type) || !is_summed(left_shape.type) ||
      left_shape.type != right_shape.type || !a.sparsity.text.empty())
    return {};
  const ProductSide left(left_shape, a.lhs_batch_dims, a.lhs_contracting_dims);
  const ProductSide right(right_shape, a.rhs_batch_dims, a.rhs_contracting_dims);
  if (count_of(left_shape, left.free) == 1)
    if (const auto matrix = find_matrix(f, y, right))
      return sum_of(f, x, left, *matrix, right, result);
  if (count_of(right_shape, right.free) == 1)
    if (const auto matrix = find_matrix(f, x, left))
      return sum_of(f, y, right, *matrix, left, result);
  return {};
}

}  // namespace

Result<bool> expand_vector_products(Module& module, const PassOptions&) {
  Editor editor(module);
  return expand(editor, Op::Dot, expand_product);
}

}  // namespace hilo

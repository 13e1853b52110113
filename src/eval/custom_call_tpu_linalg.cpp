// Custom calls that TPU modules make of decompositions: whole matrices are done at once here.
#include <cmath>

#include "eval/custom_call_pairs.h"

namespace hilo {
namespace {

SliceAttributes last_two(const Shape& shape, int64_t row, int64_t rows, int64_t column,
                         int64_t columns) {
  SliceAttributes out;
  for (int64_t size : shape.dims) out.slice.dims.push_back({0, size, 1});
  const size_t rank = shape.dims.size();
  out.slice.dims[rank - 2] = {row, row + rows, 1};
  out.slice.dims[rank - 1] = {column, column + columns, 1};
  return out;
}

// Side by side along dimension `dim`, whatever sizes the others say: the step is verified.
StepValue joined(Steps& steps, StepValue a, StepValue b, int64_t dim) {
  Shape shape = a.shape;
  shape.dims[static_cast<size_t>(dim)] += b.shape.dims[static_cast<size_t>(dim)];
  return steps.op(Op::Concatenate, shape, {std::move(a), std::move(b)},
                  DimensionsAttributes{Dims{dim}});
}

// Rows of a matrix that stand apart: only the last one, which fills an odd matrix up. Its number is
// replaced by one beyond all eigenvalues, so that it stays the last; gives what it was.
template <class T>
std::optional<T> set_apart(std::span<T> matrix, size_t n) {
  double largest = 0;
  for (size_t i = 0; i + 1 < n; ++i) {
    if (matrix[i * n + n - 1] != T(0) || matrix[(n - 1) * n + i] != T(0)) return std::nullopt;
    double sum = 0;
    for (size_t j = 0; j + 1 < n; ++j) sum += std::fabs(static_cast<double>(matrix[i * n + j]));
    largest = std::max(largest, sum);
  }
  return std::exchange(matrix[n * n - 1], static_cast<T>(2 * largest + 1));
}

// (eigenvectors, eigenvalues) of each matrix of the batch.
StepValue eigen(Steps& steps, StepValue whole) {
  const Shape shape = whole.shape;
  Dims values = shape.dims;
  values.pop_back();
  const auto n = static_cast<size_t>(shape.dims.back());
  CustomCallAttributes attributes;
  attributes.custom_call_target = "Eigh";
  const Shape pair = Shape::tuple({shape, with_dims(shape, values)});
  const auto solve = [&] {
    return steps.op(Op::CustomCall, pair, {std::move(whole)}, std::move(attributes));
  };
  StepValue out;
  visit_storage(whole.literal.type(), [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_floating_point_v<T>) {
      std::vector<std::optional<T>> apart;
      const auto all = whole.literal.mutable_data<T>();
      for (size_t at = 0; n > 0 && at < all.size(); at += n * n)
        apart.push_back(set_apart<T>(all.subspan(at, n * n), n));
      out = solve();
      if (steps.failed()) return;
      const auto numbers = out.literal.mutable_elements()[1].mutable_data<T>();
      for (size_t i = 0; i < apart.size(); ++i)
        if (apart[i]) numbers[i * n + n - 1] = *apart[i];
    } else {
      out = solve();
    }
  });
  return out;
}

}  // namespace

// (factors, pivots, permutation) of floats; of f64 as sums of two operands, with pairs of factors.
Result<Literal> call_lu_real_block(Call& call) {
  if (call.operands.size() == 1) return call_lu_decomposition(call);
  return call_on_pairs(call, ElementType::F64, "LuDecomposition", 1);
}

Result<Literal> call_lu_complex_block(Call& call) {
  return call_on_pairs(call, ElementType::C64, "LuDecomposition", 1);
}

// (vectors, scales) of floats; of the parts of complex numbers, with pairs of both.
Result<Literal> call_qr_block(Call& call) {
  if (call.operands.size() == 1) return call_cusolver_geqrf(call);
  return call_on_pairs(call, ElementType::C64, "Qr", 2);
}

// T with T(i, i) = m(i, i) and T(:, i) = T(:, k < i) m(k < i, i) else: for m with -tau on its
// diagonal and products of scaled Householder vectors above, these are I + V T V^T. That is
// T (I - strictly upper m) = diagonal of m.
Result<Literal> call_compact_wy(Call& call) {
  HILO_DO(need_matrices(call));
  if (call.operands.size() == 2) return call_on_pairs(call, ElementType::C64, "CompactWyHelper", 1);
  Steps steps(call);
  StepValue m = steps.operand(0);
  const Shape shape = m.shape;
  const int64_t rank = shape.rank();
  if (rank < 2 || shape.dims[rank - 1] != shape.dims[rank - 2])
    return call.error(ErrorKind::Shape, "expected square matrices");
  const Shape indices = with_type(shape, ElementType::S32);
  StepValue row = steps.op(Op::Iota, indices, {}, IotaAttributes{rank - 2});
  StepValue column = steps.op(Op::Iota, indices, {}, IotaAttributes{rank - 1});
  StepValue equal = steps.op(Op::Compare, with_type(shape, ElementType::Pred),
                             {std::move(row), std::move(column)}, CompareAttributes{});
  StepValue zeros = steps.scalar(0, shape);
  StepValue diagonal = steps.op(Op::Select, shape, {std::move(equal), m, std::move(zeros)});
  StepValue upper = steps.unary(Op::Negate, std::move(m));
  return steps.finish(
      {steps.op(Op::TriangularSolve, shape, {std::move(upper), std::move(diagonal)},
                TriangularSolveAttributes{false, false, true, TransposeKind::NoTranspose})});
}

// Of a symmetric matrix in quadrants (upper left, upper right, lower left, lower right): its
// eigenvalues in two halves, and the quadrants of the matrix whose rows are the eigenvectors. They
// ascend, but that a last row without others stays the last.
Result<Literal> call_eigh_quadrants(Call& call) {
  if (call.operands.size() != 4) return call.error(ErrorKind::Shape, "expected four quadrants");
  Steps steps(call);
  std::vector<StepValue> quadrants;
  for (size_t i = 0; i < 4; ++i) quadrants.push_back(steps.operand(i));
  const int64_t rank = quadrants[0].shape.rank();
  for (const StepValue& quadrant : quadrants)
    if (rank < 2 || quadrant.shape.rank() != rank)
      return call.error(ErrorKind::Shape, "expected quadrants of matrices");
  StepValue upper = joined(steps, quadrants[0], quadrants[1], rank - 1);
  StepValue lower = joined(steps, quadrants[2], quadrants[3], rank - 1);
  StepValue whole = joined(steps, std::move(upper), std::move(lower), rank - 2);
  const Shape shape = whole.shape;
  Dims values = shape.dims, order(static_cast<size_t>(rank));
  values.pop_back();
  for (int64_t d = 0; d < rank; ++d) order[static_cast<size_t>(d)] = d;
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  if (shape.dims[order.size() - 1] != shape.dims[order.size() - 2])
    return call.error(ErrorKind::Shape, "expected quadrants of square matrices");
  StepValue pair = eigen(steps, std::move(whole));
  if (steps.failed()) return steps.finish({});
  StepValue rows = steps.transpose({pair.literal.elements()[0], shape}, order);
  const StepValue numbers{pair.literal.elements()[1], with_dims(shape, values)};
  const int64_t n = shape.dims.back(), half = quadrants[0].shape.dims.back();
  std::vector<StepValue> out;
  for (const int64_t first : {int64_t{0}, half}) {
    const int64_t count = first == 0 ? half : n - half;
    SliceAttributes slice;
    for (int64_t size : values) slice.slice.dims.push_back({0, size, 1});
    slice.slice.dims.back() = {first, first + count, 1};
    values.back() = count;
    out.push_back(steps.op(Op::Slice, with_dims(shape, values), {numbers}, std::move(slice)));
    values.back() = n;
  }
  for (const int64_t row : {int64_t{0}, half})
    for (const int64_t column : {int64_t{0}, half}) {
      Dims dims = shape.dims;
      dims[dims.size() - 2] = row == 0 ? half : n - half;
      dims[dims.size() - 1] = column == 0 ? half : n - half;
      const SliceAttributes slice =
          last_two(shape, row, dims[dims.size() - 2], column, dims.back());
      out.push_back(steps.op(Op::Slice, with_dims(shape, dims), {rows}, slice));
    }
  return steps.finish(std::move(out));
}

}  // namespace hilo

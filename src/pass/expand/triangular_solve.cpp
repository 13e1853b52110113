// Systems of triangular matrices solved row by row.
//   x[i] = (b[i] - Σ a[i,k] x[k]) / a[i,i], k before i in the order of solving
// for a matrix on the left; on the right, and of transposed matrices, everything is transposed.
// The other triangle is not read. Formula: Golub and Van Loan, Matrix Computations, 3.1.
// Narrow floats are computed in f32. Assumes nothing. Later passes may assume that no
// triangular-solve is left. Where a back end has no function of that name.
#include <numeric>

#include "pass/expand/formula.h"

namespace hilo {
namespace {

Term transposed(Formula& f, Term x) {
  Dims order(x.shape().dims.size());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return f.transpose(x, order);
}

Term conjugate(Formula& f, Term x) {
  if (!is_complex(x.shape().type)) return x;
  return f.apply(Op::Complex, f.apply(Op::Real, x), -f.apply(Op::Imag, x));
}

struct Order {
  bool is_lower, unit_diagonal;
};

std::vector<Term> next_row(Formula& f, Term number, std::vector<Term> state, Order order) {
  const Term x = state[0], a = state[1], b = state[2];
  const Shape shape = x.shape();
  const int64_t first = shape.rank() - 2, n = shape.dims[first];
  Dims batch(static_cast<size_t>(first));
  std::iota(batch.begin(), batch.end(), 0);
  const Dims batch_sizes(shape.dims.begin(), shape.dims.begin() + first);
  Dims line = batch_sizes, of_a = batch_sizes, row = shape.dims;
  line.push_back(shape.dims.back()), of_a.push_back(n), row[first] = 1;
  const Term i = order.is_lower ? number : f.number(number.shape(), n - 1) - number;

  const Term whole = f.reshape(f.row(a, first, i), of_a);
  const Term places = f.iota(ElementType::S32, of_a, first);
  const Term solved =
      f.compare(places, order.is_lower ? ComparisonDirection::Lt : ComparisonDirection::Gt,
                f.broadcast(i, of_a, {}));
  const Term factors = f.select(solved, whole, f.number(whole.shape(), 0));
  const Term known = f.dot(factors, x, DotAttributes{batch, {first}, batch, {first}}, shape.type);
  Term next = f.reshape(f.row(b, first, i), line) - known;
  if (!order.unit_diagonal) {
    const Term pivot = f.reshape(f.row(whole, first, i), batch_sizes);
    next = next / f.broadcast(pivot, line, batch);
  }
  return {f.with_row(x, f.reshape(next, row), first, i), a, b};
}

Term expand_solve(Formula& f) {
  const auto attributes = f.module().attributes<TriangularSolveAttributes>(f.root());
  Term a = f.operand(0), b = f.operand(1);
  const ElementType declared = b.shape().type;
  if (element_count(a.shape()) == 0 || element_count(b.shape()) == 0) return {};
  if (bits_of(declared) < 32)
    a = f.convert(a, ElementType::F32), b = f.convert(b, ElementType::F32);
  const bool is_adjoint = attributes.transpose_a == TransposeKind::Adjoint;
  const bool is_transposed =
      (is_adjoint || attributes.transpose_a == TransposeKind::Transpose) == attributes.left_side;
  if (is_adjoint) a = conjugate(f, a);
  if (is_transposed) a = transposed(f, a);
  if (!attributes.left_side) b = transposed(f, b);
  const Order order{attributes.lower != is_transposed, attributes.unit_diagonal};
  const auto round = [order](Formula& inside, Term number, std::vector<Term> state) {
    return next_row(inside, number, std::move(state), order);
  };
  const int64_t n = a.shape().dims.back();
  const Term x = repeat(f, n, {f.number(b.shape(), 0), a, b}, round)[0];
  return f.convert(attributes.left_side ? x : transposed(f, x), declared);
}

}  // namespace

Result<bool> expand_triangular_solves(Module& module, const PassOptions&) {
  Editor editor(module);
  return expand(editor, Op::TriangularSolve, expand_solve);
}

}  // namespace hilo

// Cholesky factors column by column.
//   L[:,j] = s / √s[j] below and on the diagonal, s = A[:,j] - L conj(L[j,:]), for j = 0, 1, …
// A matrix that is not positive definite gives NaNs. Formula: Golub and Van Loan, Matrix
// Computations, 4.2.5. Narrow floats are computed in f32. Assumes nothing. Later passes may assume
// that no cholesky is left. Where a back end has no function of that name.
#include <limits>

#include "pass/expand/formula.h"

namespace hilo {
namespace {

// Batch dimensions before the last `less`.
Dims batch_dims(Term x, size_t less) {
  Dims out;
  for (size_t i = 0; i + less < x.shape().dims.size(); ++i) out.push_back(static_cast<int64_t>(i));
  return out;
}

Term conjugate(Formula& f, Term x) {
  if (!is_complex(x.shape().type)) return x;
  return f.apply(Op::Complex, f.apply(Op::Real, x), -f.apply(Op::Imag, x));
}

Term adjoint(Formula& f, Term x) {
  Dims order = batch_dims(x, 0);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return conjugate(f, f.transpose(x, order));
}

// The real square root, also of complex numbers whose imaginary part is rounding.
Term root_of(Formula& f, Term x) {
  if (!is_complex(x.shape().type)) return f.apply(Op::Sqrt, x);
  const Term real = f.apply(Op::Sqrt, f.apply(Op::Real, x));
  return f.apply(Op::Complex, real, real * 0.0);
}

std::vector<Term> next_column(Formula& f, Term j, std::vector<Term> state) {
  const Term l = state[0], a = state[1];
  const Shape shape = l.shape();
  const int64_t last = shape.rank() - 1;
  const Dims batch = batch_dims(l, 2);
  Dims line(shape.dims.begin(), shape.dims.end() - 1), column = shape.dims;
  column[last] = 1;
  const Term row = f.reshape(f.row(l, last - 1, j), line);
  const Term product =
      f.dot(l, conjugate(f, row), DotAttributes{batch, {last}, batch, {last - 1}}, shape.type);
  const Term s = f.reshape(f.row(a, last, j), line) - product;
  Dims one(line.begin(), line.end() - 1);
  const Term pivot = root_of(f, f.reshape(f.row(s, last - 1, j), one));
  const Term divided = s / f.broadcast(pivot, line, batch);
  const Term places = f.iota(ElementType::S32, line, last - 1);
  const Term below = f.compare(places, ComparisonDirection::Ge, f.broadcast(j, line, {}));
  const Term made = f.select(below, divided, f.number(divided.shape(), 0));
  return {f.with_row(l, f.reshape(made, column), last, j), a};
}

// All of a factor with a NaN in it is NaN, the zeros above the diagonal aside.
Term whole_or_none(Formula& f, Term l) {
  const Shape shape = l.shape();
  const int64_t last = shape.rank() - 1;
  const Term total = f.sum(l, {last - 1, last});
  const Term bad = f.compare(total, ComparisonDirection::Ne, total);
  const Term rows = f.iota(ElementType::S32, shape.dims, last - 1);
  const Term columns = f.iota(ElementType::S32, shape.dims, last);
  const Term low = f.compare(columns, ComparisonDirection::Le, rows);
  const Term bad_mask = f.broadcast(bad, shape.dims, batch_dims(l, 2));
  const Term nothing = f.number(shape, std::numeric_limits<double>::quiet_NaN());
  return f.select(bad_mask & low, nothing, l);
}

Term expand_factor(Formula& f) {
  const bool lower = f.module().attributes<CholeskyAttributes>(f.root()).lower;
  const ElementType declared = f.operand(0).shape().type;
  Term a = f.operand(0);
  if (element_count(a.shape()) == 0) return {};
  if (bits_of(declared) < 32) a = f.convert(a, ElementType::F32);
  if (!lower) a = adjoint(f, a);
  const int64_t n = a.shape().dims.back();
  const std::vector<Term> done = repeat(f, n, {f.number(a.shape(), 0), a}, next_column);
  const Term l = whole_or_none(f, done[0]);
  return f.convert(lower ? l : adjoint(f, l), declared);
}

}  // namespace

Result<bool> expand_choleskys(Module& module, const PassOptions&) {
  Editor editor(module);
  return expand(editor, Op::Cholesky, expand_factor);
}

}  // namespace hilo

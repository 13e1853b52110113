// Matrix products in one form: batch dimensions in front, one free and one contracting dimension
// behind them.
//   dot(x, y) => reshape(dot([b…,m,k] of x, [b…,k,n] of y))
// by transposes and reshapes. Assumes nothing. Later passes may assume that form. Late, because
// simplification takes transposes into the product again.
#include "pass/expand/formula.h"
#include "pass/expand/product_side.h"

namespace hilo {
namespace {

// [b…, first, second] of what the lists name.
Term arrange(Formula& f, Term x, const Dims& batch, const Dims& first, const Dims& second) {
  const Shape shape = x.shape();
  Dims permutation = batch, dims;
  permutation.insert(permutation.end(), first.begin(), first.end());
  permutation.insert(permutation.end(), second.begin(), second.end());
  for (int64_t dim : batch) dims.push_back(shape.dims[dim]);
  dims.push_back(count_of(shape, first));
  dims.push_back(count_of(shape, second));
  return f.reshape(f.transpose(x, permutation), dims);
}

bool leads(const Dims& batch) {
  for (size_t i = 0; i < batch.size(); ++i)
    if (batch[i] != static_cast<int64_t>(i)) return false;
  return true;
}

bool is_canonical(const ProductSide& left, const ProductSide& right) {
  const int64_t b = static_cast<int64_t>(left.batch.size());
  return leads(left.batch) && leads(right.batch) && left.contracting == Dims{b + 1} &&
         right.contracting == Dims{b} && left.free == Dims{b} && right.free == Dims{b + 1};
}

Term expand_dot(Formula& f) {
  const DotAttributes a = f.module().attributes<DotAttributes>(f.root());
  const Term x = f.operand(0), y = f.operand(1);
  const ProductSide left(x.shape(), a.lhs_batch_dims, a.lhs_contracting_dims);
  const ProductSide right(y.shape(), a.rhs_batch_dims, a.rhs_contracting_dims);
  if (is_canonical(left, right) || !a.sparsity.text.empty()) return {};
  const Shape result = f.module().shape(f.root());
  const Term lhs = arrange(f, x, left.batch, left.free, left.contracting);
  const Term rhs = arrange(f, y, right.batch, right.contracting, right.free);
  DotAttributes canonical = a;
  const int64_t b = static_cast<int64_t>(left.batch.size());
  canonical.lhs_batch_dims.clear(), canonical.rhs_batch_dims.clear();
  for (int64_t i = 0; i < b; ++i)
    canonical.lhs_batch_dims.push_back(i), canonical.rhs_batch_dims.push_back(i);
  canonical.lhs_contracting_dims = {b + 1}, canonical.rhs_contracting_dims = {b};
  return f.reshape(f.dot(lhs, rhs, std::move(canonical), result.type), result.dims);
}

}  // namespace

Result<bool> decompose_dots(Module& module, const PassOptions&) {
  Editor editor(module);
  return expand(editor, Op::Dot, expand_dot);
}

}  // namespace hilo

// Long sums of products with few results, as of the covariances of a few features over many rows,
// are sums of the products of parts: what a part reads stays in a core's caches for all blocks of
// its results, and many threads have something to do.
//   dot(x[k, m], y[k, n]) => reduce(dot(x[p, k / p, m], y[p, k / p, n])[p, m, n])
// Sums are added in another order, one that follows from the shapes alone; those of parts are f32,
// or f64 of such results. Assumes nothing. Later passes may assume nothing. Behind algebra, which
// would join the reshapes, and before fusion.
#include <algorithm>

#include "pass/expand/formula.h"
#include "pass/expand/product_side.h"

namespace hilo {
namespace {

// Of more rows and columns a product reads each element often enough to be packed as a whole.
constexpr int64_t most_results = 512, most_of_side = 64;
// Multiplications that one loop does as well.
constexpr int64_t least_product = 1 << 18;
// So few rows times so many others, all of which stand along what is summed, are read once without
// parts, and shared by threads.
constexpr int64_t few_rows = 4, enough_rows = 16;
// What a part reads, in bytes, and its terms; results of parts are so much less than what is read.
constexpr int64_t part_bytes = 1 << 17, least_terms = 64, least_parts = 8, read_for_result = 8;

// Whether these stand beside each other in their order, so that they are one dimension.
bool is_one_dim(const Dims& dims) {
  for (size_t i = 0; i + 1 < dims.size(); ++i)
    if (dims[i + 1] != dims[i] + 1) return false;
  return !dims.empty();
}

// The most terms of a part that all parts have, or 0.
int64_t terms_of_part(int64_t terms, int64_t most) {
  for (int64_t each = std::min(most, terms / least_parts); each >= least_terms; --each)
    if (terms % each == 0) return each;
  return 0;
}

Term in_parts(Formula& f, Term x, const ProductSide& side, int64_t terms) {
  Dims dims = x.shape().dims;
  const auto first = dims.begin() + side.contracting.front();
  const int64_t parts = count_of(x.shape(), side.contracting) / terms;
  dims.erase(first + 1, first + std::ssize(side.contracting));
  *first = terms;
  dims.insert(first, parts);
  return f.reshape(x, dims);
}

Term split_product(Formula& f) {
  DotAttributes a = f.module().attributes<DotAttributes>(f.root());
  const Term x = f.operand(0), y = f.operand(1);
  const Shape left = x.shape(), right = y.shape(), result = f.module().shape(f.root());
  if (!is_summed(left.type) || !is_summed(right.type) || !is_summed(result.type) ||
      !a.lhs_batch_dims.empty() || !a.sparsity.text.empty() ||
      !is_one_dim(a.lhs_contracting_dims) || !is_one_dim(a.rhs_contracting_dims))
    return {};
  const ProductSide rows(left, {}, a.lhs_contracting_dims),
      columns(right, {}, a.rhs_contracting_dims);
  const int64_t m = count_of(left, rows.free), n = count_of(right, columns.free),
                k = count_of(left, rows.contracting);
  if (m * n == 0 || m * n > most_results || std::max(m, n) > most_of_side ||
      k <= least_product / (m * n))
    return {};
  const auto are_rows = [](const Shape& shape, const ProductSide& side) {
    return side.contracting.back() + 1 == shape.rank();
  };
  if (are_rows(left, rows) && are_rows(right, columns) && std::min(m, n) <= few_rows &&
      std::max(m, n) >= enough_rows)
    return {};
  const int64_t bytes = m * storage_bytes(left.type) + n * storage_bytes(right.type);
  const int64_t terms = terms_of_part(k, part_bytes / bytes);
  if (terms == 0 || terms * (m + n) < read_for_result * m * n) return {};
  const auto cut = [](const ProductSide& side, Dims& batch, Dims& contracting) {
    batch = {side.contracting.front()};
    contracting = {side.contracting.front() + 1};
  };
  cut(rows, a.lhs_batch_dims, a.lhs_contracting_dims);
  cut(columns, a.rhs_batch_dims, a.rhs_contracting_dims);
  const ElementType sum = result.type == ElementType::F64 ? result.type : ElementType::F32;
  const Term parts =
      f.dot(in_parts(f, x, rows, terms), in_parts(f, y, columns, terms), std::move(a), sum);
  return f.convert(f.sum(parts, {0}), result.type);
}

}  // namespace

Result<bool> split_long_products(Module& module, const PassOptions&) {
  Editor editor(module);
  return expand(editor, Op::Dot, split_product);
}

}  // namespace hilo

// Long sums of products with few results, as of the covariances of a few features over many rows,
// are sums of the products of parts: what a part reads stays in a core's caches for all blocks of
// its results, and many threads have something to do.
//   dot(x[k, m], y[k, n]) => reduce(dot(x[p, k / p, m], y[p, k / p, n])[p, m, n])
//   dot(x[k, m, l], y[k, l, n]) => reduce(dot(x[p, k / p, m, l], y[p, k / p, l, n])[p, m, n])
// Sums are added in another order, one that follows from the shapes alone; those of parts are f32,
// or f64 of such results. Assumes nothing. Later passes may assume nothing. Behind algebra, which
// would join the reshapes, and before fusion.
#include <algorithm>

#include "pass/expand/formula.h"
#include "pass/expand/product_side.h"

namespace hilo {
namespace {

// Of more rows and columns a product reads each element often enough to be packed as a whole.
constexpr int64_t max_results = 512, max_side = 64;
// Multiplications that one loop does as well.
constexpr int64_t min_product = 1 << 18;
// So few rows times so many others, all of which stand along what is summed, are read once without
// parts, and shared by threads.
constexpr int64_t small_row_count = 4, enough_rows = 16;
// What a part reads, in bytes, and its terms; results of parts are so much less than what is read.
constexpr int64_t part_bytes = 1 << 17, min_terms = 64, min_parts = 8, read_for_result = 8;
// Where several dimensions are summed, and not as one.
constexpr int64_t max_dim_results = 4096, max_dim_parts = 16;

// Whether these stand beside each other in their order, so that they are one dimension.
bool is_one_dim(const Dims& dims) {
  for (size_t i = 0; i + 1 < dims.size(); ++i)
    if (dims[i + 1] != dims[i] + 1) return false;
  return !dims.empty();
}

// The most terms of a part that all parts have, or 0.
int64_t terms_of_part(int64_t terms, int64_t most) {
  for (int64_t each = std::min(most, terms / min_parts); each >= min_terms; --each)
    if (terms % each == 0) return each;
  return 0;
}

// How a product is cut: the pair of contracted dimensions that is, and into how many parts.
struct LongCut {
  int64_t lhs_dim, rhs_dim, size, parts;
};

Dims cut_dims(const Dims& dims, int64_t dim, const LongCut& cut) {
  Dims out = dims;
  out[static_cast<size_t>(dim)] = cut.size / cut.parts;
  out.insert(out.begin() + dim, cut.parts);
  return out;
}

// Contracted dimensions that are one in both operands become one, which is cut into parts that
// stay in a core's caches.
std::optional<LongCut> cut_of_one_dim(const Shape& left, const Shape& right,
                                      const ProductSide& rows, const ProductSide& columns) {
  const int64_t m = count_of(left, rows.free), n = count_of(right, columns.free),
                k = count_of(left, rows.contracting);
  if (m * n > max_results || std::max(m, n) > max_side) return std::nullopt;
  const auto are_rows = [](const Shape& shape, const ProductSide& side) {
    return side.contracting.back() + 1 == shape.rank();
  };
  if (are_rows(left, rows) && are_rows(right, columns) && std::min(m, n) <= small_row_count &&
      std::max(m, n) >= enough_rows)
    return std::nullopt;
  const int64_t bytes = m * storage_bytes(left.type) + n * storage_bytes(right.type);
  const int64_t terms = terms_of_part(k, part_bytes / bytes);
  if (terms == 0) return std::nullopt;
  return LongCut{rows.contracting.front(), columns.contracting.front(), k, k / terms};
}

// Of others the pair that is the first of both is cut: packing them is most of the work, and of a
// whole product two threads share little of it.
std::optional<LongCut> cut_of_first_dim(const Shape& left, const Shape& right,
                                        const ProductSide& rows, const ProductSide& columns) {
  const auto at = std::ranges::min_element(rows.contracting) - rows.contracting.begin();
  const int64_t rhs_dim = columns.contracting[static_cast<size_t>(at)];
  if (rhs_dim != std::ranges::min(columns.contracting) ||
      count_of(left, rows.free) * count_of(right, columns.free) > max_dim_results)
    return std::nullopt;
  const int64_t lhs_dim = rows.contracting[static_cast<size_t>(at)],
                size = left.dims[static_cast<size_t>(lhs_dim)];
  for (int64_t parts = max_dim_parts; parts >= min_parts; --parts)
    if (size % parts == 0) return LongCut{lhs_dim, rhs_dim, size, parts};
  return std::nullopt;
}

Term split_product(Formula& f) {
  DotAttributes a = f.module().attributes<DotAttributes>(f.root());
  Term x = f.operand(0), y = f.operand(1);
  const Shape left = x.shape(), right = y.shape(), result = f.module().shape(f.root());
  if (!is_summed(left.type) || !is_summed(right.type) || !is_summed(result.type) ||
      !a.lhs_batch_dims.empty() || !a.sparsity.text.empty() || a.lhs_contracting_dims.empty())
    return {};
  const ProductSide rows(left, {}, a.lhs_contracting_dims),
      columns(right, {}, a.rhs_contracting_dims);
  const int64_t m = count_of(left, rows.free), n = count_of(right, columns.free),
                k = count_of(left, rows.contracting);
  if (m * n == 0 || k <= min_product / (m * n)) return {};
  const bool is_one = is_one_dim(a.lhs_contracting_dims) && is_one_dim(a.rhs_contracting_dims);
  const auto cut = is_one ? cut_of_one_dim(left, right, rows, columns)
                          : cut_of_first_dim(left, right, rows, columns);
  if (!cut) return {};
  const int64_t terms = k / cut->parts;
  if (terms < min_terms || terms * (m + n) < read_for_result * m * n) return {};
  const auto cut_side = [&](Term operand, int64_t dim, Dims& batch, Dims& contracting) {
    Dims dims = operand.shape().dims;
    if (is_one) {  // dimensions that are cut as one
      dims.erase(dims.begin() + dim + 1, dims.begin() + dim + std::ssize(contracting));
      contracting = {dim};
      dims[static_cast<size_t>(dim)] = cut->size;
    }
    for (int64_t& d : contracting) d += d >= dim;
    batch = {dim};
    return f.reshape(operand, cut_dims(dims, dim, *cut));
  };
  x = cut_side(x, cut->lhs_dim, a.lhs_batch_dims, a.lhs_contracting_dims);
  y = cut_side(y, cut->rhs_dim, a.rhs_batch_dims, a.rhs_contracting_dims);
  const ElementType sum = result.type == ElementType::F64 ? result.type : ElementType::F32;
  const Term parts = f.dot(x, y, std::move(a), sum);
  return f.convert(f.sum(parts, {0}), result.type);
}

}  // namespace

Result<bool> split_long_products(Module& module, const PassOptions&) {
  Editor editor(module);
  return expand(editor, Op::Dot, split_product);
}

}  // namespace hilo

// Matrix products. Result dimensions: batch, free ones of the left side, free ones of the right.
#include "ir/infer/infer.h"

namespace hilo {
namespace {

// Dimensions named on both sides are as many and of the same sizes.
Result<void> need_paired(std::string_view what, const Shape& left, const Dims& left_dims,
                         const Shape& right, const Dims& right_dims) {
  HILO_DO(need_distinct(fmt::format("lhs_{}_dims", what), left_dims, left.rank()));
  HILO_DO(need_distinct(fmt::format("rhs_{}_dims", what), right_dims, right.rank()));
  if (left_dims.size() != right_dims.size())
    return misfit("lhs_{0}_dims={1} and rhs_{0}_dims={2} differ in number", what, braced(left_dims),
                  braced(right_dims));
  for (size_t i = 0; i < left_dims.size(); ++i)
    if (left.dims[left_dims[i]] != right.dims[right_dims[i]])
      return misfit("{} dimension {} of {} is not as large as {} of {}", what, left_dims[i],
                    text(left), right_dims[i], text(right));
  return {};
}

Result<void> need_apart(std::string_view side, const Dims& batch, const Dims& contracting) {
  for (int64_t dim : batch)
    if (contains(contracting, dim))
      return misfit("{} dimension {} is a batch and a contracting one", side, dim);
  return {};
}

template <class A>
Result<Shape> product(const Given& given, const A& a, std::span<const int64_t> group_dims) {
  HILO_DO(need_arrays(given));
  const Shape& left = given.operand(0);
  const Shape& right = given.operand(1);
  HILO_DO(need_paired("contracting", left, a.lhs_contracting_dims, right, a.rhs_contracting_dims));
  HILO_DO(need_paired("batch", left, a.lhs_batch_dims, right, a.rhs_batch_dims));
  HILO_DO(need_apart("lhs", a.lhs_batch_dims, a.lhs_contracting_dims));
  HILO_DO(need_apart("rhs", a.rhs_batch_dims, a.rhs_contracting_dims));
  if (is_complex(left.type) != is_complex(right.type) && !given.stated())
    return misfit("operands have different element types: {} and {}", text(left), text(right));
  Dims dims;
  std::vector<bool> dynamic;
  const auto take = [&](const Shape& from, int64_t dim) {
    dims.push_back(from.dims[dim]);
    dynamic.push_back(from.is_dynamic(dim));
  };
  for (int64_t dim : a.lhs_batch_dims) take(left, dim);
  for (int64_t i = 0; i < left.rank(); ++i)
    if (!contains(a.lhs_batch_dims, i) && !contains(a.lhs_contracting_dims, i)) take(left, i);
  for (int64_t i = 0; i < right.rank(); ++i)
    if (!contains(a.rhs_batch_dims, i) && !contains(a.rhs_contracting_dims, i) &&
        !contains(group_dims, i))
      take(right, i);
  ElementType type = wider(left.type, right.type);
  if (is_integral(type) && is_integral(right.type) && bits_of(right.type) > bits_of(type))
    type = right.type;
  HILO_TRY(const ElementType stated, product_type(given, type));
  return make_array(stated, std::move(dims), std::move(dynamic));
}

// A scale is a scalar, or divides each dimension of what it scales.
Result<void> need_scale(const Shape& scale, const Shape& scaled) {
  if (scale.is_scalar()) return {};
  bool fits = scale.dims.size() == scaled.dims.size();
  for (size_t i = 0; fits && i < scale.dims.size(); ++i)
    fits = scale.dims[i] > 0 ? scaled.dims[i] % scale.dims[i] == 0 : scaled.dims[i] == 0;
  if (fits) return {};
  return misfit("the scale {} does not divide {}", text(scale), text(scaled));
}

// The dimensions of the left side that group sizes may have before the groups: those of the batch,
// then those of the ragged one's kind that stand before it.
Dims sizes_before(const RaggedDotAttributes& a, const Shape& left) {
  const int64_t ragged = a.lhs_ragged_dims[0];
  Dims dims = a.lhs_batch_dims;
  if (contains(a.lhs_contracting_dims, ragged)) {
    dims.insert(dims.end(), a.lhs_contracting_dims.begin(), a.lhs_contracting_dims.end());
  } else {
    for (int64_t d = 0; d < left.rank(); ++d)
      if (!contains(a.lhs_batch_dims, d) && !contains(a.lhs_contracting_dims, d)) dims.push_back(d);
  }
  Dims out;
  for (const int64_t d : dims) {
    if (d == ragged) break;
    out.push_back(left.dims[d]);
  }
  return out;
}

Result<void> need_group_sizes(const Given& given, const RaggedDotAttributes& a) {
  const Shape& sizes = given.operand(2);
  for (int64_t d : a.rhs_group_dims)
    if (contains(a.rhs_batch_dims, d) || contains(a.rhs_contracting_dims, d))
      return misfit("dimension {} is in rhs_group_dims and in the batch or contracted", d);
  Dims expected = sizes_before(a, given.operand(0));
  expected.push_back(sizes.dims.back());
  if (sizes.rank() == 1 || sizes.dims == expected) return {};
  return misfit("expected group sizes of dimensions {}, found {}", braced(expected), text(sizes));
}

}  // namespace

Result<Shape> infer_Dot(const Given& given) {
  return product(given, given.attributes<DotAttributes>(), {});
}

// Left, right, scale of the left, scale of the right.
Result<Shape> infer_ScaledDot(const Given& given) {
  HILO_DO(need_arrays(given));
  HILO_DO(need_scale(given.operand(2), given.operand(0)));
  HILO_DO(need_scale(given.operand(3), given.operand(1)));
  return product(given, given.attributes<DotAttributes>(), {});
}

// The rows of the ragged dimension fall into groups of the sizes of operand 2 (g of them, its last
// dimension). Ragged rows: the right side has a group dimension [g,k,n] and each group its matrix;
// ragged contraction: the result has g in front; ragged batch: an ordinary product.
Result<Shape> infer_RaggedDot(const Given& given) {
  HILO_DO(need_arrays(given));
  const auto& a = given.attributes<RaggedDotAttributes>();
  const Shape& left = given.operand(0);
  const Shape& right = given.operand(1);
  const Shape& sizes = given.operand(2);
  if (!is_integral(sizes.type) || sizes.rank() < 1)
    return misfit("expected integer group sizes of at least one dimension, found {}", text(sizes));
  const int64_t groups = sizes.dims.back();
  if (a.lhs_ragged_dims.size() != 1)
    return misfit("expected one ragged dimension, found {}", braced(a.lhs_ragged_dims));
  HILO_DO(need_distinct("lhs_ragged_dims", a.lhs_ragged_dims, left.rank()));
  HILO_DO(need_distinct("rhs_group_dims", a.rhs_group_dims, right.rank()));
  const int64_t ragged = a.lhs_ragged_dims[0];
  const bool contracting = contains(a.lhs_contracting_dims, ragged);
  const bool rows = !contracting && !contains(a.lhs_batch_dims, ragged);
  if (a.rhs_group_dims.size() != (rows ? 1 : 0))
    return misfit("expected {} group dimension for this ragged dimension, found {}", rows ? 1 : 0,
                  braced(a.rhs_group_dims));
  if (rows && right.dims[a.rhs_group_dims[0]] != groups)
    return misfit("expected {} groups in dimension {} of {}", groups, a.rhs_group_dims[0],
                  text(right));
  HILO_TRY(Shape out, product(given, a, a.rhs_group_dims));
  HILO_DO(need_group_sizes(given, a));
  if (!contracting) return out;
  Dims dims = out.dims;
  dims.insert(dims.begin(), groups);
  return make_array(out.type, std::move(dims));
}

}  // namespace hilo

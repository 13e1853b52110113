// reduce, dot, sort. Rules that put the elements of a sum in another order keep
// no more of floats than their real value.
#include <algorithm>
#include <numeric>

#include "pass/loop_limits.h"
#include "pass/simplify/simplify.h"

namespace hilo {
namespace {

using namespace rule_types;
using enum Keeps;

const Dims& reduced_dims(const Match& match) {
  return match.attributes<ReduceAttributes>().dimensions;
}

InstructionId make_reduce(Editor& editor, const Match& match, const Shape& shape,
                          InstructionId value, Dims dims) {
  const InstructionId init = editor.module().operand(match.root(), 1);
  const ComputationId to_apply = match.attributes<ReduceAttributes>().to_apply;
  std::ranges::sort(dims);
  return editor.add(match.root(), Op::Reduce, shape, std::array{value, init},
                    ReduceAttributes{std::move(dims), to_apply});
}

std::optional<Op> monoid(const Match& match) {
  return monoid_of(match.module(), match.attributes<ReduceAttributes>().to_apply);
}
bool begins_with_identity(const Match& match) {
  const auto op = monoid(match);
  return op && is_identity(match.module(), *op, match['i']);
}

InstructionId reduce_of_empty(Editor& editor, const Match& match) {
  if (element_count(match.shape('x')) > 0 || !all_plain(match, "")) return {};
  return make_broadcast(editor, match, match['i'], {});
}

InstructionId reduce_of_ones(Editor& editor, const Match& match) {
  for (int64_t dim : reduced_dims(match))
    if (match.shape('x').dims[dim] != 1) return {};
  if (!all_plain(match, "x") || !begins_with_identity(match)) return {};
  return make_reshape(editor, match, match['x']);
}

// Only dimensions of size 1 came or went, or all are reduced.
InstructionId reduce_of_reshape(Editor& editor, const Match& match) {
  if (!all_plain(match, "xr")) return {};
  if (match.shape().is_scalar() && element_count(match.shape('x')) > 0) {
    Dims all(match.shape('x').dims.size());
    std::iota(all.begin(), all.end(), 0);
    return make_reduce(editor, match, match.shape(), match['x'], all);
  }
  const auto map = map_long_dims(match.shape('x'), match.shape('r'));
  if (!map) return {};
  Dims dims, sizes;
  for (int64_t i = 0; i < match.shape('x').rank(); ++i)
    if ((*map)[i] >= 0 && contains_dim(reduced_dims(match), (*map)[i])) dims.push_back(i);
    else sizes.push_back(match.shape('x').dims[i]);
  if (dims.empty() && !begins_with_identity(match)) return {};
  const InstructionId reduced =
      make_reduce(editor, match, Shape::array(match.shape().type, sizes), match['x'], dims);
  return sizes == match.shape().dims ? reduced : make_reshape(editor, match, reduced);
}

InstructionId reduce_of_transpose(Editor& editor, const Match& match) {
  if (!all_plain(match, "xt")) return {};
  const Dims& permutation = dimensions_of(match, 't');
  Dims dims, kept;  // of x; kept in the order of the result
  for (size_t i = 0; i < permutation.size(); ++i)
    (contains_dim(reduced_dims(match), static_cast<int64_t>(i)) ? dims : kept)
        .push_back(permutation[i]);
  Dims sorted = kept, sizes, order;
  std::ranges::sort(sorted);
  for (int64_t dim : sorted) sizes.push_back(match.shape('x').dims[dim]);
  for (int64_t dim : kept) order.push_back(std::ranges::find(sorted, dim) - sorted.begin());
  const InstructionId reduced =
      make_reduce(editor, match, Shape::array(match.shape().type, sizes), match['x'], dims);
  return sorted == kept ? reduced : make_transpose(editor, match, reduced, order);
}

// The dimensions of x that become the reduced ones of its reshape r; nothing where one becomes a
// part of such and a part of a kept one.
std::optional<Dims> reduced_before(const Match& match) {
  const Dims &from = match.shape('x').dims, &to = match.shape('r').dims;
  Dims out;
  for (size_t i = 0, k = 0; i < from.size() || k < to.size();) {
    const size_t first = i, first_of_r = k;
    int64_t left = 1, right = 1;
    do {
      if (i < from.size() && (left <= right || k == to.size())) left *= from[i++];
      else right *= to[k++];
    } while (left != right);
    bool any = false, all = true;
    for (size_t d = first_of_r; d < k; ++d) {
      const bool is_reduced = contains_dim(reduced_dims(match), static_cast<int64_t>(d));
      any |= is_reduced && to[d] != 1;
      all &= is_reduced || to[d] == 1;
    }
    if (any && !all) return std::nullopt;
    for (size_t d = first; any && d < i; ++d) out.push_back(static_cast<int64_t>(d));
  }
  return out;
}

bool is_idempotent(std::optional<Op> op) { return op && has_trait(*op, TraitIdempotent); }

// Dimensions of a broadcast of which some are kept whole, or reduced by what takes copies as one,
// so that the next rules find its copies.
InstructionId reduce_of_tiles(Editor& editor, const Match& match) {
  if (!all_plain(match, "xr") || element_count(match.shape('r')) == 0) return {};
  const auto dims = reduced_before(match);
  if (!dims || dims->empty()) return {};
  const InstructionId broadcast = match['x'];
  const Dims& kept = editor.module().attributes<DimensionsAttributes>(broadcast).dimensions;
  Dims sizes;
  bool has_copies = false;
  for (int64_t d = 0; d < match.shape('x').rank(); ++d) {
    const int64_t size = match.shape('x').dims[static_cast<size_t>(d)];
    const bool is_reduced = contains_dim(*dims, d), is_copy = size > 1 && !contains_dim(kept, d);
    if (!is_reduced) sizes.push_back(size);
    has_copies |= is_copy && (!is_reduced || is_idempotent(monoid(match)));
  }
  if (!has_copies) return {};
  const InstructionId reduced =
      make_reduce(editor, match, Shape::array(match.shape().type, sizes), broadcast, *dims);
  return make_reshape(editor, match, reduced);
}

// The broadcast b of x with these of its dimensions alone, all that x has among them.
InstructionId broadcast_within(Editor& editor, const Match& match, const Dims& dims) {
  const Dims& to = dimensions_of(match, 'b');
  Dims sizes, order;
  for (int64_t d : dims) sizes.push_back(match.shape('b').dims[static_cast<size_t>(d)]);
  for (int64_t d : to) order.push_back(std::ranges::find(dims, d) - dims.begin());
  if (dims.size() == to.size() && std::ranges::is_sorted(order)) return match['x'];
  return editor.add(match.root(), Op::Broadcast, Shape::array(match.shape().type, sizes),
                    std::array{match['x']}, DimensionsAttributes{order});
}

// Copies that are kept are made of what one of them comes to.
InstructionId reduce_before_broadcast(Editor& editor, const Match& match) {
  if (!all_plain(match, "xb")) return {};
  const Dims& to = dimensions_of(match, 'b');
  Dims inner, sizes, dims, kept;  // dimensions of b without kept copies, and of the result
  int64_t next = 0;
  for (int64_t d = 0; d < match.shape('b').rank(); ++d) {
    const bool is_reduced = contains_dim(reduced_dims(match), d), is_copy = !contains_dim(to, d);
    if (is_reduced) dims.push_back(static_cast<int64_t>(inner.size()));
    else if (!is_copy) kept.push_back(next), sizes.push_back(match.shape('b').dims[d]);
    if (!is_reduced) ++next;
    if (is_reduced || !is_copy) inner.push_back(d);
  }
  if (static_cast<int64_t>(kept.size()) == next) return {};
  InstructionId value = broadcast_within(editor, match, inner);
  value = make_reduce(editor, match, Shape::array(match.shape().type, sizes), value, dims);
  return make_broadcast(editor, match, value, kept);
}

// Copies that are reduced, where one of them is as good, beside other elements.
InstructionId reduce_without_copies(Editor& editor, const Match& match) {
  const Dims& to = dimensions_of(match, 'b');
  if (!all_plain(match, "xb") || !is_idempotent(monoid(match)) ||
      element_count(match.shape('b')) == 0)
    return {};
  Dims left, dims;  // dimensions of b, and of what is left
  for (int64_t d = 0; d < match.shape('b').rank(); ++d) {
    const bool is_reduced = contains_dim(reduced_dims(match), d);
    if (is_reduced && !contains_dim(to, d)) continue;
    if (is_reduced) dims.push_back(static_cast<int64_t>(left.size()));
    left.push_back(d);
  }
  if (dims.empty() || left.size() == match.shape('b').dims.size()) return {};
  const InstructionId value = broadcast_within(editor, match, left);
  return make_reduce(editor, match, match.shape(), value, dims);
}

// Copies of one element are combined: the element where that changes nothing, a multiple of it for
// sums.
InstructionId reduce_of_broadcast(Editor& editor, const Match& match) {
  if (!all_plain(match, "xb") || !begins_with_identity(match) ||
      element_count(match.shape('b')) == 0 || monoid(match) == Op::Multiply)
    return {};
  Dims place(match.shape('b').dims.size(), -1), dims;
  int64_t copies = 1, next = 0;
  for (int64_t i = 0; i < match.shape('b').rank(); ++i)
    if (contains_dim(reduced_dims(match), i)) copies *= match.shape('b').dims[i];
    else place[i] = next++;
  for (int64_t dim : dimensions_of(match, 'b')) {
    if (place[dim] < 0) return {};
    dims.push_back(place[dim]);
  }
  const bool is_sum = monoid(match) == Op::Add;
  if (is_sum && (copies >= 1 << 24 || match.shape().type == ElementType::Pred)) return {};
  const InstructionId value = make_broadcast(editor, match, match['x'], dims);
  if (!is_sum) return value;
  const InstructionId times =
      editor.add_splat(match.root(), match.shape(), static_cast<double>(copies));
  return editor.add(match.root(), Op::Multiply, match.shape(), std::array{value, times});
}
bool is_no_sum(const Match& match) { return monoid(match) && monoid(match) != Op::Add; }

InstructionId reduce_once(Editor& editor, const Match& match) {
  const auto& inner = match.attributes<ReduceAttributes>('r');
  const auto op = monoid(match);
  if (!all_plain(match, "xr") || !op || monoid_of(match.module(), inner.to_apply) != op ||
      !is_identity(match.module(), *op, match['j']))
    return {};
  Dims dims = inner.dimensions, kept;
  for (int64_t i = 0; i < match.shape('x').rank(); ++i)
    if (!contains_dim(inner.dimensions, i)) kept.push_back(i);
  for (int64_t dim : reduced_dims(match)) dims.push_back(kept[dim]);
  return make_reduce(editor, match, match.shape(), match['x'], dims);
}

// Whether what has been combined of parts comes to the same, as well as of the whole: numbers of
// fewer than 32 bits would be rounded more often.
bool combines_parts(const Match& match) {
  const auto op = monoid(match);
  const bool is_rounded = op == Op::Add || op == Op::Multiply;
  const ElementType type = match.shape().type;
  return begins_with_identity(match) && !(is_rounded && is_floating(type) && bits_of(type) < 32);
}

// All of each part by itself: one loop over them would ask for each element where it comes from.
InstructionId reduce_of_joined(Editor& editor, const Match& match) {
  constexpr size_t max_parts = 16;
  const auto operands = match.module().operands(match['c']);
  const std::vector<InstructionId> parts(operands.begin(), operands.end());
  const Shape shape = match.shape();
  if (!shape.is_scalar() || !all_plain(match, "c") || parts.size() > max_parts) return {};
  InstructionId out;
  for (InstructionId part : parts) {
    if (!is_plain(match.module().shape(part))) return {};
    const InstructionId next = make_reduce(editor, match, shape, part, reduced_dims(match));
    out = out ? editor.add(match.root(), *monoid(match), shape, std::array{out, next}) : next;
  }
  return out;
}

bool contracts_nothing(const Match& match) {
  return element_count(match.shape('x')) == 0 || element_count(match.shape('y')) == 0;
}

// An operand of a dot that sums nothing, for each element of the result: without the dimensions of
// one element that are contracted.
InstructionId broadcast(Editor& editor, const Match& match, char operand, const Dims& batch,
                        const Dims& contracting, int64_t first_free) {
  const Dims from = match.shape(operand).dims;
  Dims sizes, dims;
  for (size_t i = 0; i < from.size(); ++i) {
    if (contains_dim(contracting, static_cast<int64_t>(i))) continue;
    const auto at = std::ranges::find(batch, static_cast<int64_t>(i));
    dims.push_back(at == batch.end() ? first_free++ : at - batch.begin());
    sizes.push_back(from[i]);
  }
  InstructionId value = match[operand];
  if (sizes.size() < from.size())
    value = editor.add(match.root(), Op::Reshape, Shape::array(match.shape().type, sizes),
                       std::array{value});
  return make_broadcast(editor, match, value, dims);
}

bool sums_nothing(const Match& match, const DotAttributes& attributes) {
  return std::ranges::all_of(attributes.lhs_contracting_dims,
                             [&](int64_t dim) { return match.shape('x').dims[dim] == 1; });
}

InstructionId dot_without_sum(Editor& editor, const Match& match) {
  const DotAttributes a = match.attributes<DotAttributes>();
  const ElementType type = match.shape().type;
  if (!sums_nothing(match, a) || a.algorithm != DotAlgorithm::Unset || !a.sparsity.text.empty() ||
      !all_plain(match, "xy") || match.shape('x').type != type || match.shape('y').type != type)
    return {};
  const auto batches = static_cast<int64_t>(a.lhs_batch_dims.size());
  const int64_t of_left =
      match.shape('x').rank() - static_cast<int64_t>(a.lhs_contracting_dims.size());
  const InstructionId x =
      broadcast(editor, match, 'x', a.lhs_batch_dims, a.lhs_contracting_dims, batches);
  const InstructionId y =
      broadcast(editor, match, 'y', a.rhs_batch_dims, a.rhs_contracting_dims, of_left);
  return editor.add(match.root(), Op::Multiply, match.shape(), std::array{x, y});
}

// The dot's dimensions of what was transposed; none when the free ones would change their order.
bool look_through(const Dims& permutation, Dims& batch, Dims& contracting) {
  Dims free;
  for (size_t i = 0; i < permutation.size(); ++i)
    if (const int64_t dim = static_cast<int64_t>(i);
        !contains_dim(batch, dim) && !contains_dim(contracting, dim))
      free.push_back(permutation[i]);
  for (int64_t& dim : batch) dim = permutation[dim];
  for (int64_t& dim : contracting) dim = permutation[dim];
  return std::ranges::is_sorted(free);
}

InstructionId remake_dot(Editor& editor, const Match& match, DotAttributes attributes) {
  return editor.add(match.root(), Op::Dot, match.shape(), std::array{match['x'], match['y']},
                    std::move(attributes));
}

InstructionId dot_of_transpose_left(Editor& editor, const Match& match) {
  DotAttributes a = match.attributes<DotAttributes>();
  if (!all_plain(match, "xty") || !a.sparsity.text.empty() ||
      !look_through(dimensions_of(match, 't'), a.lhs_batch_dims, a.lhs_contracting_dims))
    return {};
  return remake_dot(editor, match, std::move(a));
}

InstructionId dot_of_transpose_right(Editor& editor, const Match& match) {
  DotAttributes a = match.attributes<DotAttributes>();
  if (!all_plain(match, "xty") || !a.sparsity.text.empty() ||
      !look_through(dimensions_of(match, 't'), a.rhs_batch_dims, a.rhs_contracting_dims))
    return {};
  return remake_dot(editor, match, std::move(a));
}

// The dimensions of y^T x^T of a dot of x and y, of which `order` is the transpose: batches in any
// order, then all of y's, then all of x's. Nothing for other orders.
std::optional<DotAttributes> swapped_operands(const DotAttributes& a, const Dims& order,
                                              int64_t x_rank) {
  const auto count = static_cast<int64_t>(order.size());
  const auto batches = static_cast<int64_t>(a.lhs_batch_dims.size());
  const int64_t x_free = x_rank - batches - static_cast<int64_t>(a.lhs_contracting_dims.size());
  DotAttributes out = a;
  std::swap(out.lhs_contracting_dims, out.rhs_contracting_dims);
  std::ranges::reverse(out.operand_precision);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t dim = order[static_cast<size_t>(i)];
    const auto at = static_cast<size_t>(i), from = static_cast<size_t>(dim);
    if (i >= batches) {
      if (dim != (i < count - x_free ? i + x_free : i - (count - x_free) + batches)) return {};
    } else if (dim >= batches) {
      return {};
    } else {
      out.lhs_batch_dims[at] = a.rhs_batch_dims[from];
      out.rhs_batch_dims[at] = a.lhs_batch_dims[from];
    }
  }
  return out;
}

// Elements that lie side by side and are neither batches nor summed, up to those of a vector.
int64_t columns_of(const Dims& dims, const Dims& batch, const Dims& contracting) {
  const int64_t last = static_cast<int64_t>(dims.size()) - 1;
  const bool is_free = last >= 0 && !contains_dim(batch, last) && !contains_dim(contracting, last);
  return is_free ? std::min(LoopLimits::short_row, dims.back()) : 0;
}

// Whether columns of the new right operand of y^T x^T fill vectors as well as the old one's, or
// both operands are read along what is summed: loops over products want one of these.
bool may_swap_operands(const DotAttributes& a, const Dims& x, const Dims& y) {
  const auto ends_in = [](const Dims& dims, const Dims& contracting) {
    return contains_dim(contracting, static_cast<int64_t>(dims.size()) - 1);
  };
  const int64_t columns = columns_of(x, a.lhs_batch_dims, a.lhs_contracting_dims);
  return (ends_in(x, a.lhs_contracting_dims) && ends_in(y, a.rhs_contracting_dims)) ||
         (columns > 0 && columns >= columns_of(y, a.rhs_batch_dims, a.rhs_contracting_dims));
}

InstructionId transpose_of_dot(Editor& editor, const Match& match) {
  const auto& a = match.attributes<DotAttributes>('d');
  const Dims &x = match.shape('x').dims, &y = match.shape('y').dims;
  if (!all_plain(match, "xyd") || !a.sparsity.text.empty()) return {};
  const auto out = swapped_operands(a, dimensions_of(match), static_cast<int64_t>(x.size()));
  if (!out || !may_swap_operands(a, x, y)) return {};
  return editor.add(match.root(), Op::Dot, match.shape(), std::array{match['y'], match['x']}, *out);
}

// A product whose columns are batches of the next one, as of z^T A x for many x and z: its rows are
// these then, and each batch reads what lies side by side.
InstructionId dot_of_columns(Editor& editor, const Match& match, bool is_right) {
  const DotAttributes inner = match.attributes<DotAttributes>('d');
  DotAttributes outer = match.attributes<DotAttributes>();
  const Dims x = match.shape('x').dims, y = match.shape('y').dims;
  Dims& batch = is_right ? outer.rhs_batch_dims : outer.lhs_batch_dims;
  Dims& contracting = is_right ? outer.rhs_contracting_dims : outer.lhs_contracting_dims;
  const Shape made = match.shape('d');
  const auto of_x = static_cast<int64_t>(x.size() - inner.lhs_contracting_dims.size());
  if (!all_plain(match, "xydz") || !inner.lhs_batch_dims.empty() || !inner.sparsity.text.empty() ||
      !outer.sparsity.text.empty() || of_x == 0 || !contains_dim(batch, made.rank() - 1) ||
      contains_dim(batch, of_x - 1) || !may_swap_operands(inner, x, y))
    return {};
  bool has_free = false;  // what comes of y; free dimensions of both would change their order
  for (int64_t d = of_x; d < made.rank(); ++d)
    has_free = has_free || !(contains_dim(batch, d) || contains_dim(contracting, d));
  if (has_free) return {};
  Dims order;
  for (int64_t d = 0; d < made.rank(); ++d) order.push_back((d + of_x) % made.rank());
  const auto swapped = swapped_operands(inner, order, static_cast<int64_t>(x.size()));
  if (!swapped) return {};
  Dims sizes;
  for (int64_t d : order) sizes.push_back(made.dims[static_cast<size_t>(d)]);
  const InstructionId rows = editor.add(match['d'], Op::Dot, Shape::array(made.type, sizes),
                                        std::array{match['y'], match['x']}, *swapped);
  for (Dims* dims : {&batch, &contracting})
    for (int64_t& d : *dims) d = (d + made.rank() - of_x) % made.rank();
  const InstructionId left = is_right ? match['z'] : rows, right = is_right ? rows : match['z'];
  return editor.add(match.root(), Op::Dot, match.shape(), std::array{left, right}, outer);
}
InstructionId dot_of_columns_right(Editor& editor, const Match& match) {
  return dot_of_columns(editor, match, true);
}
InstructionId dot_of_columns_left(Editor& editor, const Match& match) {
  return dot_of_columns(editor, match, false);
}

InstructionId sort_of_one(Editor& editor, const Match& match) {
  const Module& module = editor.module();
  const auto operands = module.operands(match.root());
  const std::vector<InstructionId> values(operands.begin(), operands.end());
  const int64_t dim = match.attributes<SortAttributes>().dimensions[0];
  if (module.shape(values[0]).dims[dim] > 1) return {};
  return values.size() == 1 ? values[0] : editor.add_tuple(match.root(), values);
}

// One element in each window, and nothing around.
bool looks_at_one(const Match& match) {
  const auto& a = match.attributes<ReduceWindowAttributes>();
  for (const WindowDim& dim : a.window.dims)
    if (dim.size != 1 || dim.stride != 1 || dim.padding_low != 0 || dim.padding_high != 0 ||
        dim.base_dilation != 1)
      return false;
  const auto op = monoid_of(match.module(), a.to_apply);
  return op && is_identity(match.module(), *op, match['i']);
}

constexpr RewriteRule rules[] = {
    {"reduce-of-empty", Any, Bits, "reduce(x, i)", reduce_of_empty},
    {"reduce-of-ones", Real | Pred, Values, "reduce(x, i)", reduce_of_ones},
    {"reduce-of-reshape", Any, Reals, "reduce(r:reshape(x), i)", reduce_of_reshape},
    {"reduce-of-tiles", Any, Reals, "reduce(r:reshape(x:broadcast(y)), i)", reduce_of_tiles},
    {"reduce-of-kept-copies", Any, Reals, "reduce(b:broadcast(x), i)", reduce_before_broadcast},
    {"reduce-without-copies", Real | Pred, Values, "reduce(b:broadcast(x), i)",
     reduce_without_copies},
    {"reduce-of-transpose", Any, Reals, "reduce(t:transpose(x), i)", reduce_of_transpose},
    {"reduce-of-copies", Real | Pred, Values, "reduce(b:broadcast(x), i)", reduce_of_broadcast,
     is_no_sum},
    {"reduce-of-copies-to-product", Real, Reals, "reduce(b:broadcast(x), i)", reduce_of_broadcast},
    {"reduce-reduce", Real | Pred, Reals, "reduce(r:reduce!(x, j), i)", reduce_once},
    {"reduce-of-joined", Real | Pred, Reals, "reduce(c:concatenate!(...), i)", reduce_of_joined,
     combines_parts},
    {"reduce-window-of-one", Real | Pred, Values, "reduce-window(x, i)", "x", looks_at_one},
    {"dot-of-empty", Any, Bits, "dot(x, y)", "0", contracts_nothing},
    {"dot-without-sum", Real, Values, "dot(x, y)", dot_without_sum},
    {"dot-of-transpose-left", Any, Reals, "dot(t:transpose(x), y)", dot_of_transpose_left},
    {"dot-of-transpose-right", Any, Reals, "dot(x, t:transpose(y))", dot_of_transpose_right},
    {"dot-of-columns-right", Any, Reals, "dot(z, d:dot!(x, y))", dot_of_columns_right},
    {"dot-of-columns-left", Any, Reals, "dot(d:dot!(x, y), z)", dot_of_columns_left},
    {"transpose-of-dot", Any, Reals, "transpose(d:dot!(x, y))", transpose_of_dot},
    {"sort-of-one", Any, Bits, "sort(...)", sort_of_one},
};

}  // namespace

RuleTable reduce_rules() { return rules; }

}  // namespace hilo

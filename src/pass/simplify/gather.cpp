// gather: indices that are the same for all of a batch ask for whole slices; what is turned only to
// be asked in another order is asked where it stands; constant indices that follow each other are a
// slice, and equal ones in a row (as where pixels are repeated) a broadcast.
#include <algorithm>
#include <tuple>

#include "pass/simplify/simplify.h"

namespace hilo {
namespace {

using namespace rule_types;
using enum Keeps;

void drop(Dims& dims, size_t at) { dims.erase(dims.begin() + static_cast<int64_t>(at)); }

// Which batch has the same indices everywhere: nothing is broadcast along it from `i`.
std::optional<size_t> same_batch(const Match& match, const GatherAttributes& a) {
  for (size_t k = 0; k < a.start_indices_batching_dims.size(); ++k)
    if (!contains_dim(dimensions_of(match, 'b'), a.start_indices_batching_dims[k])) return k;
  return std::nullopt;
}

// The result's dimension that dimension `dim` of the indices becomes.
int64_t result_dim(const GatherAttributes& a, int64_t dim) {
  int64_t before = dim - (dim > a.index_vector_dim ? 1 : 0), out = 0;
  for (;; ++out) {
    if (contains_dim(a.offset_dims, out)) continue;
    if (before-- == 0) return out;
  }
}

// The indices without a dimension along which nothing is broadcast.
InstructionId indices_without(Editor& editor, const Match& match, int64_t dim) {
  Shape shape = match.shape('b');
  drop(shape.dims, static_cast<size_t>(dim));
  Dims to = dimensions_of(match, 'b');
  for (int64_t& d : to) d -= d > dim ? 1 : 0;
  if (to.size() == shape.dims.size() && std::ranges::is_sorted(to)) return match['i'];
  return editor.add(match.root(), Op::Broadcast, Shape::array(shape.type, shape.dims),
                    std::array{match['i']}, DimensionsAttributes{std::move(to)});
}

// Nothing where the slices' new dimension would not stand where the batch stood in the result.
InstructionId gather_of_same_indices(Editor& editor, const Match& match) {
  GatherAttributes a = match.attributes<GatherAttributes>();
  const auto k = same_batch(match, a);
  if (!k || !all_plain(match, "xbi")) return {};
  const int64_t batch = a.operand_batching_dims[*k], dim = a.start_indices_batching_dims[*k],
                place = result_dim(a, dim);
  const auto is_before = [&](int64_t d) {
    return d < batch && !contains_dim(a.collapsed_slice_dims, d) &&
           !contains_dim(a.operand_batching_dims, d);
  };
  int64_t slices_before = 0;
  for (int64_t d = 0; d < match.shape('x').rank(); ++d) slices_before += is_before(d) ? 1 : 0;
  if (std::ranges::count_if(a.offset_dims, [&](int64_t d) { return d < place; }) != slices_before)
    return {};
  a.offset_dims.push_back(place);
  std::ranges::sort(a.offset_dims);
  a.slice_sizes[static_cast<size_t>(batch)] = match.shape('x').dims[static_cast<size_t>(batch)];
  drop(a.operand_batching_dims, *k);
  drop(a.start_indices_batching_dims, *k);
  for (int64_t& d : a.start_indices_batching_dims) d -= d > dim ? 1 : 0;
  a.index_vector_dim -= a.index_vector_dim > dim ? 1 : 0;
  const InstructionId indices = indices_without(editor, match, dim);
  return editor.add(match.root(), Op::Gather, match.shape(), std::array{match['x'], indices},
                    std::move(a));
}

// Whether the slices' dimensions keep their order in what was turned, and elements that lie side by
// side in a slice do so there.
bool keeps_slices(const GatherAttributes& a, const Dims& order) {
  int64_t before = -1, innermost = std::ssize(order) - 1;
  for (size_t d = 0; d < order.size(); ++d) {
    const auto dim = static_cast<int64_t>(d);
    if (contains_dim(a.collapsed_slice_dims, dim) || contains_dim(a.operand_batching_dims, dim))
      continue;
    if (order[d] < before) return false;
    before = order[d];
    if (a.slice_sizes[d] != 1) innermost = order[d];
  }
  return innermost == std::ssize(order) - 1;
}

InstructionId gather_of_transposed(Editor& editor, const Match& match) {
  GatherAttributes a = match.attributes<GatherAttributes>();
  const Dims order = dimensions_of(match, 't');
  if (!all_plain(match, "xti") || !keeps_slices(a, order)) return {};
  const auto place = [&](int64_t dim) { return order[static_cast<size_t>(dim)]; };
  for (Dims* dims : {&a.collapsed_slice_dims, &a.start_index_map})
    std::ranges::transform(*dims, dims->begin(), place);
  std::ranges::sort(a.collapsed_slice_dims);
  std::vector<std::pair<int64_t, int64_t>> batches;
  for (size_t k = 0; k < a.operand_batching_dims.size(); ++k)
    batches.emplace_back(place(a.operand_batching_dims[k]), a.start_indices_batching_dims[k]);
  std::ranges::sort(batches);
  for (size_t k = 0; k < batches.size(); ++k)
    std::tie(a.operand_batching_dims[k], a.start_indices_batching_dims[k]) = batches[k];
  const Dims sizes = a.slice_sizes;
  for (size_t d = 0; d < sizes.size(); ++d) a.slice_sizes[static_cast<size_t>(order[d])] = sizes[d];
  return editor.add(match.root(), Op::Gather, match.shape(), std::array{match['x'], match['i']},
                    std::move(a));
}

// Longer ones are not looked at.
constexpr int64_t max_indices = 1 << 20;

// Indices first, first + step, …, each so many times in a row; the last one may come less often.
struct RegularIndices {
  int64_t first = 0, step = 1, times = 1, count = 0;
  int64_t different() const { return (count + times - 1) / times; }
};

std::optional<RegularIndices> regular_indices(std::span<const int64_t> all) {
  const auto differs = [&](int64_t i) { return i != all[0]; };
  const auto next = std::ranges::find_if(all, differs);
  RegularIndices out = {all[0], 1, next - all.begin(), std::ssize(all)};
  if (next != all.end()) out.step = *next - all[0];
  for (int64_t i = 0; i < out.count; ++i)
    if (all[static_cast<size_t>(i)] != out.first + i / out.times * out.step) return std::nullopt;
  return out;
}

// As far as slices of that size let them.
std::vector<int64_t> clamped_indices(const Match& match, const GatherAttributes& a) {
  std::vector<int64_t> out(static_cast<size_t>(element_count(match.shape('I'))));
  const Literal& literal = match.literal('I');
  for (size_t i = 0; i < out.size(); ++i) {
    const auto d = static_cast<size_t>(a.start_index_map[i % a.start_index_map.size()]);
    const int64_t last = match.shape('x').dims[d] - a.slice_sizes[d];
    const double index = literal.number_at(literal.count() == 1 ? 0 : static_cast<int64_t>(i));
    out[i] = static_cast<int64_t>(std::clamp(index, 0.0, static_cast<double>(last)));
  }
  return out;
}

// One slice.
InstructionId slice_at_indices(Editor& editor, const Match& match, const GatherAttributes& a,
                               std::span<const int64_t> indices) {
  std::vector<SliceDim> slice;
  for (int64_t size : a.slice_sizes) slice.push_back({0, size, 1});
  for (size_t k = 0; k < indices.size(); ++k) {
    SliceDim& dim = slice[static_cast<size_t>(a.start_index_map[k])];
    dim = {indices[k], indices[k] + dim.limit, 1};
  }
  return make_reshape(editor, match,
                      make_slice(editor, match.root(), match['x'], std::move(slice)));
}

// Whether whole slices across one dimension are taken, and stand in the result where that stood.
bool takes_across(const Match& match, const GatherAttributes& a) {
  if (a.collapsed_slice_dims != a.start_index_map || a.start_index_map.size() != 1) return false;
  const int64_t dim = a.start_index_map[0];
  for (size_t d = 0; d < a.slice_sizes.size(); ++d)
    if (static_cast<int64_t>(d) != dim && a.slice_sizes[d] != match.shape('x').dims[d])
      return false;
  const int64_t batches = match.shape().rank() - std::ssize(a.offset_dims);
  for (int64_t d = 0; d < std::ssize(a.offset_dims); ++d)
    if (a.offset_dims[static_cast<size_t>(d)] != (d < dim ? d : d + batches)) return false;
  return true;
}

InstructionId slice_along(Editor& editor, InstructionId like, InstructionId value, size_t dim,
                          const SliceDim& along) {
  std::vector<SliceDim> slice;
  for (int64_t size : editor.module().shape(value).dims) slice.push_back({0, size, 1});
  slice[dim] = along;
  return make_slice(editor, like, value, std::move(slice));
}

InstructionId repeat_along(Editor& editor, InstructionId like, InstructionId value, size_t dim,
                           int64_t times) {
  Shape shape = editor.module().shape(value);
  Dims to, repeated = shape.dims;
  for (size_t d = 0; d < shape.dims.size(); ++d)
    to.push_back(static_cast<int64_t>(d > dim ? d + 1 : d));
  repeated.insert(repeated.begin() + static_cast<int64_t>(dim) + 1, times);
  const InstructionId broadcast =
      editor.add(like, Op::Broadcast, Shape::array(shape.type, repeated), std::array{value},
                 DimensionsAttributes{std::move(to)});
  shape.dims[dim] *= times;
  return editor.add(like, Op::Reshape, Shape::array(shape.type, shape.dims), std::array{broadcast});
}

InstructionId gather_of_regular_indices(Editor& editor, const Match& match) {
  const GatherAttributes a = match.attributes<GatherAttributes>();
  const int64_t count = element_count(match.shape('I'));
  if (!all_plain(match, "xI") || count == 0 || count > max_indices ||
      element_count(match.shape()) == 0 || element_count(a.slice_sizes) == 0 ||
      !a.operand_batching_dims.empty())
    return {};
  const std::vector<int64_t> indices = clamped_indices(match, a);
  if (indices.size() == a.start_index_map.size())
    return slice_at_indices(editor, match, a, indices);
  const auto regular = takes_across(match, a) ? regular_indices(indices) : std::nullopt;
  if (!regular) return {};
  const auto dim = static_cast<size_t>(a.start_index_map[0]);
  const InstructionId like = match.root();
  const int64_t last = regular->first + (regular->different() - 1) * regular->step;
  const auto [low, high] = std::minmax(regular->first, last);
  InstructionId value =
      slice_along(editor, like, match['x'], dim, {low, high + 1, std::abs(regular->step)});
  if (regular->step < 0)
    value = editor.add_inferred(like, Op::Reverse, std::array{value},
                                DimensionsAttributes{{static_cast<int64_t>(dim)}});
  if (regular->times > 1) value = repeat_along(editor, like, value, dim, regular->times);
  value = slice_along(editor, like, value, dim, {0, regular->count, 1});
  return make_reshape(editor, match, value);
}

constexpr RewriteRule rules[] = {
    {"gather-of-regular-indices", Any, Bits, "gather(x, I)", gather_of_regular_indices},
    {"gather-of-transposed", Any, Bits, "gather(t:transpose(x), i)", gather_of_transposed},
    {"gather-of-same-indices", Any, Bits, "gather(x, b:broadcast(i))", gather_of_same_indices},
};

}  // namespace

RuleTable gather_rules() { return rules; }

}  // namespace hilo

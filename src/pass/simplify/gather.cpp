// gather: indices that are the same for all of a batch ask for whole slices; what is turned only to
// be asked in another order is asked where it stands.
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

constexpr RewriteRule rules[] = {
    {"gather-of-transposed", Any, Bits, "gather(t:transpose(x), i)", gather_of_transposed},
    {"gather-of-same-indices", Any, Bits, "gather(x, b:broadcast(i))", gather_of_same_indices},
};

}  // namespace

RuleTable gather_rules() { return rules; }

}  // namespace hilo

#include "emit/partition_points.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

#include "analysis/analysis.h"
#include "emit/loop_limits.h"

namespace hilo {
namespace {

constexpr size_t max_loops = 4, max_partition_points = 64;
constexpr int64_t max_group = 4;
// Fewer groups need no loop without choices.
constexpr int64_t few = KernelLimits::min_lanes;
// So many groups are a vector, or two: one loop with choices takes as long as one of its parts.
constexpr int64_t narrow = KernelLimits::widest_lanes;
// Elements of a run that are worth a loop without divisions.
constexpr int64_t min_run = 64;

// Element number r of group g of the loop is the value's at place factor * g + offset.
struct Seen {
  InstructionId id;
  size_t dim;
  int64_t factor, offset;
  auto operator<=>(const Seen&) const = default;
};

int64_t floor_quotient(int64_t a, int64_t c) { return a / c - (a % c < 0 ? 1 : 0); }

// The dimension of `to` that is dimension `dim` of `from`, of one reshaped to the other.
std::optional<size_t> same_dim(const Dims& from, size_t dim, const Dims& to) {
  const int64_t before = std::accumulate(from.begin(), from.begin() + static_cast<int64_t>(dim),
                                         int64_t{1}, std::multiplies<>());
  int64_t product = 1;
  for (size_t d = 0; d < to.size(); product *= to[d++])
    if (product == before && to[d] == from[dim]) return d;
  return std::nullopt;
}

// The dimension of `from` whose elements follow each other in dimension `dim` of `to`, of one
// reshaped to the other.
std::optional<size_t> innermost_part(const Dims& from, const Dims& to, size_t dim) {
  const int64_t behind = std::accumulate(to.begin() + static_cast<int64_t>(dim) + 1, to.end(),
                                         int64_t{1}, std::multiplies<>());
  int64_t product = 1;
  for (size_t d = from.size(); d-- > 0; product *= from[d])
    if (product == behind && from[d] != 1)
      return to[dim] % from[d] == 0 ? std::optional(d) : std::nullopt;
  return std::nullopt;
}

class Walk {
 public:
  Walk(const Module& module, int64_t size, int64_t group)
      : module_(module), count_(size / group), group_(group) {}

  // False where the values are too many.
  bool all(std::span<const InstructionId> values, size_t dim) {
    for (InstructionId id : values)
      for (int64_t r = 0; r < group_; ++r)
        if (module_.shape(id).is_array()) add({id, dim, group_, r});
    while (!waiting_.empty() && seen_.size() < SearchBudget::max_visited &&
           partition_points_.size() <= max_partition_points) {
      const Seen value = waiting_.back();
      waiting_.pop_back();
      visit(value);
    }
    return waiting_.empty();
  }

  // A multiple of the group with which nothing comes in turns: no elements and interiors of pads,
  // no elements of a short innermost dimension.
  int64_t wanted() const { return wanted_; }
  std::vector<int64_t> ends() const {
    std::vector<int64_t> out = {0};
    out.insert(out.end(), partition_points_.begin(), partition_points_.end());
    out.push_back(count_);
    return out;
  }

 private:
  void add(Seen value) {
    if (value.factor != 0 && seen_.insert(value).second) waiting_.push_back(value);
  }

  // The value changes between its places at - 1 and at.
  void note(const Seen& value, int64_t at) {
    const int64_t distance = at - value.offset;
    const int64_t first = value.factor > 0 ? -floor_quotient(-distance, value.factor)
                                           : floor_quotient(-distance, -value.factor) + 1;
    if (first > 0 && first < count_) partition_points_.insert(first);
  }

  void visit(const Seen& value) {
    const auto [id, dim, factor, offset] = value;
    const Op op = module_[id].op;
    const auto operand = [&] { return module_.operand(id, 0); };
    if (op == Op::Fusion) {
      const InstructionId root = module_[module_.attributes<FusionAttributes>(id).calls].root;
      if (module_.shape(root).is_array()) add({root, dim, factor, offset});
    } else if (op == Op::Slice) {
      const SliceDim& slice = module_.attributes<SliceAttributes>(id).slice.dims[dim];
      add({operand(), dim, factor * slice.stride, offset * slice.stride + slice.start});
    } else if (op == Op::Concatenate) {
      visit_concatenate(value);
    } else if (op == Op::Pad) {
      visit_pad(value);
    } else if (op == Op::Reshape || op == Op::Bitcast) {
      if (module_.shape(operand()).type == module_.shape(id).type) visit_reshape(value);
    } else if (op == Op::Transpose || op == Op::Broadcast || op == Op::Reverse) {
      visit_moved(value);
    } else if (op == Op::Gather) {
      visit_gather(value);
    } else if (is_elementwise(op) || op == Op::BitcastConvert) {
      // Of another width, the last dimension counts pieces.
      if (op == Op::BitcastConvert && module_.shape(operand()).dims != module_.shape(id).dims)
        return;
      for (InstructionId each : module_.operands(id))
        if (module_.shape(each).dims.size() > dim) add({each, dim, factor, offset});
    }
  }

  void visit_moved(const Seen& value) {
    const Op op = module_[value.id].op;
    const Dims& dims = module_.attributes<DimensionsAttributes>(value.id).dimensions;
    const InstructionId operand = module_.operand(value.id, 0);
    const auto dim = static_cast<int64_t>(value.dim);
    const auto place = static_cast<size_t>(std::ranges::find(dims, dim) - dims.begin());
    if (op == Op::Transpose) {
      add({operand, static_cast<size_t>(dims[value.dim]), value.factor, value.offset});
    } else if (op == Op::Broadcast) {
      if (place < dims.size() && module_.shape(operand).dims[place] > 1)
        add({operand, place, value.factor, value.offset});
    } else if (place < dims.size()) {
      const int64_t last = module_.shape(operand).dims[value.dim] - 1;
      add({operand, value.dim, -value.factor, last - value.offset});
    } else {
      add({operand, value.dim, value.factor, value.offset});
    }
  }

  // Of what lies in the slices as it does in the array.
  void visit_gather(const Seen& value) {
    if (is_lookup(module_, value.id))
      return add({module_.operand(value.id, 1), value.dim, value.factor, value.offset});
    const auto& gather = module_.attributes<GatherAttributes>(value.id);
    const auto has = [](const Dims& dims, size_t d) {
      return std::ranges::find(dims, static_cast<int64_t>(d)) != dims.end();
    };
    if (!has(gather.offset_dims, value.dim)) return;
    size_t before = 0;  // dimensions of slices
    for (size_t d = 0; d < value.dim; ++d) before += has(gather.offset_dims, d) ? 1 : 0;
    for (size_t d = 0; d < gather.slice_sizes.size(); ++d) {
      if (has(gather.collapsed_slice_dims, d) || has(gather.operand_batching_dims, d)) continue;
      if (before-- > 0) continue;
      if (!has(gather.start_index_map, d))
        add({module_.operand(value.id, 0), d, value.factor, value.offset});
      return;
    }
  }

  void visit_reshape(const Seen& value) {
    const InstructionId operand = module_.operand(value.id, 0);
    const Dims &to = module_.shape(value.id).dims, &dims = module_.shape(operand).dims;
    if (const auto from = same_dim(to, value.dim, dims))
      return add({operand, *from, value.factor, value.offset});
    const auto part = innermost_part(dims, to, value.dim);
    if (!part) return;
    const int64_t size = dims[*part], times = to[value.dim] / size;
    if (size <= max_group && times > 1) visit_repeated(value, operand, *part, times);
    else if (size >= min_run && times <= static_cast<int64_t>(max_loops))
      visit_runs(value, operand, *part, times);
  }
  // A few elements follow each other, as of pairs or of an array that repeats each element.
  void visit_repeated(const Seen& value, InstructionId operand, size_t dim, int64_t times) {
    const Dims& dims = module_.shape(operand).dims;
    const int64_t size = dims[dim];
    if (value.factor % size != 0) wanted_ = std::lcm(wanted_, group_ * size);
    else if (dim > 0 && dims[dim - 1] == times)
      add({operand, dim - 1, value.factor / size, floor_quotient(value.offset, size)});
  }
  // A few runs do, as of an array that is repeated.
  void visit_runs(const Seen& value, InstructionId operand, size_t dim, int64_t times) {
    for (int64_t run = 0; run < times; ++run) {
      const int64_t begin = run * module_.shape(operand).dims[dim];
      add({operand, dim, value.factor, value.offset - begin});
      if (run > 0) note(value, begin);
    }
  }

  void visit_concatenate(const Seen& value) {
    const auto& along = module_.attributes<DimensionsAttributes>(value.id).dimensions;
    const bool is_along = static_cast<size_t>(along[0]) == value.dim;
    int64_t start = 0;
    for (InstructionId operand : module_.operands(value.id)) {
      add({operand, value.dim, value.factor, value.offset - start});
      if (!is_along) continue;
      if (start > 0) note(value, start);
      start += module_.shape(operand).dims[value.dim];
    }
  }

  void visit_pad(const Seen& value) {
    const InstructionId operand = module_.operand(value.id, 0);
    const int64_t size = module_.shape(operand).dims[value.dim];
    const PaddingDim& padding = module_.attributes<PadAttributes>(value.id).padding.dims[value.dim];
    const int64_t step = size > 1 ? padding.interior + 1 : 1;
    if (value.factor % step != 0) {
      if (step <= max_group) wanted_ = std::lcm(wanted_, group_ * step);
      return;
    }
    const int64_t from_first = value.offset - padding.low;
    if (from_first % step != 0) return;
    const Seen inside = {operand, value.dim, value.factor / step, from_first / step};
    note(inside, 0);
    note(inside, size);
    add(inside);
  }

  const Module& module_;
  int64_t count_, group_, wanted_ = 1;
  std::set<Seen> seen_;
  std::vector<Seen> waiting_;
  std::set<int64_t> partition_points_;
};

// Short loops side by side are one. Where too many loops are left, one stays and what is before and
// behind it, if it is most of all.
void join(std::vector<int64_t>& ends) {
  const auto is_short = [&](size_t i) { return ends[i + 1] - ends[i] < few; };
  for (size_t i = 1; i + 1 < ends.size();)
    if (is_short(i - 1) && is_short(i)) ends.erase(ends.begin() + static_cast<int64_t>(i));
    else ++i;
  if (ends.back() <= narrow) ends = {0, ends.back()};
  if (ends.size() <= max_loops + 1) return;
  size_t longest = 0;
  for (size_t i = 1; i + 1 < ends.size(); ++i)
    if (ends[i + 1] - ends[i] > ends[longest + 1] - ends[longest]) longest = i;
  std::vector<int64_t> out = {0, ends.back()};
  if (2 * (ends[longest + 1] - ends[longest]) >= ends.back())
    out = {0, ends[longest], ends[longest + 1], ends.back()};
  out.erase(std::unique(out.begin(), out.end()), out.end());
  ends = std::move(out);
}

}  // namespace

PartitionPoints find_partition_points(const Module& module, std::span<const InstructionId> values,
                                      size_t dim) {
  const int64_t size = module.shape(values[0]).dims[dim];
  PartitionPoints out = {1, {0, size}};
  for (int64_t group = 1; group <= max_group && size / group > few;) {
    Walk walk(module, size, group);
    if (!walk.all(values, dim)) break;
    out = {group, walk.ends()};
    if (walk.wanted() <= group) break;
    group = walk.wanted();
  }
  join(out.ends);
  return out;
}

}  // namespace hilo

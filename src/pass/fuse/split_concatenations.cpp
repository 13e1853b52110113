// What is computed of arrays that are put beside each other is computed of each, so that none of
// them is stored, nor what they are joined to.
//
//   f(concatenate(a, b), concatenate(c, d))  =>  concatenate(f(a, c), f(b, d))
//   transpose(concatenate(a, b))  =>  concatenate(reshape(a), reshape(b))    of single elements
//   transpose(concatenate(a, b))  =>  concatenate(transpose(a), transpose(b))   of longer runs
//   slice(concatenate(a, b))  =>  concatenate(slice(a), slice(b))            of every nth element
//   slice(concatenate(a, b))  =>  slice(b)                                   of one part
//   concatenate(concatenate(a, b), c)  =>  concatenate(a, b, c)              that came about so
//   reduce(concatenate(a, b), i)  =>  op(reduce(a, i), reduce(b, e))         along what is reduced
//   reduce(concatenate(a, b), i)  =>  concatenate(reduce(a, i), reduce(b, i))   else
//
// f is elementwise, and e the identity of the reduction's op. Reductions are regrouped as the law
// of sums allows (ir/combiner.h); of floats narrower than their sums they are left. Only where the
// parts would be stored: where one of them costs more than reading it, where they are more than a
// loop chooses from, or are read by several; or where rows are short and f costly, so that a loop
// over them should not choose; and where all readers are such. Or where a transpose
// makes the runs of elements of one part longer: it would choose between parts element by element,
// now it writes one after the other. Assumes plain layouts.
// Later passes may assume nothing. Stands behind simplify, whose rules find single elements in
// concatenations, and before reduction-splitter, which then sees the parts.
#include "pass/pass.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "pass/dense_arrays.h"
#include "pass/fuse/groups.h"

namespace hilo {
namespace {

// Elements of what is joined; smaller arrays cost less than steps of their own.
constexpr int64_t min_joined_elements = 2048;
// Rows that are short, and elements of arrays of them that are worth code for each part.
constexpr int64_t longest_short_row = 64, worth_split_rows = 1 << 15;
constexpr size_t max_parts = 8, max_readers = 4;

class Splitter {
 public:
  explicit Splitter(Module& module) : module_(module), editor_(module) {}

  bool run() {
    bool changed = false;
    for (ComputationId computation : open_computations(module_))
      for (InstructionId id : operands_first(module_, computation))
        if (!module_[id].removed) changed |= split(id);
    return changed;
  }

 private:
  // A part of a dimension.
  struct Range {
    size_t dim;
    int64_t begin, end;
  };

  std::vector<Range> ranges_of(InstructionId joined) const {
    const auto dim =
        static_cast<size_t>(module_.attributes<DimensionsAttributes>(joined).dimensions[0]);
    std::vector<Range> out;
    int64_t begin = 0;
    for (InstructionId part : module_.operands(joined)) {
      const int64_t end = begin + module_.shape(part).dims[dim];
      out.push_back({dim, begin, end});
      begin = end;
    }
    return out;
  }

  bool split(InstructionId id) {
    for (InstructionId operand : module_.operands(id))
      if (is_joined_to_be_split(operand)) {
        const Op op = module_[id].op;
        const InstructionId value = op == Op::Reduce        ? reduction_of(id, operand)
                                    : op == Op::Transpose   ? transpose_of(id, operand)
                                    : op == Op::Slice       ? slice_of(id, operand)
                                    : op == Op::Concatenate ? flat_of(id)
                                                            : elementwise_of(id, operand);
        if (!editor_.can_replace(id, value)) return false;
        if (module_[value].op == Op::Concatenate) made_.insert(value.value);
        editor_.replace(id, value);
        return true;
      }
    return false;
  }

  // An op that can be computed of parts.
  bool is_split(InstructionId id, InstructionId joined) const {
    if (module_[id].op == Op::Transpose) return is_split_transpose(id, joined);
    if (module_[id].op == Op::Slice) return is_split_slice(id, joined);
    if (module_[id].op == Op::Concatenate) return is_joined_on(id, joined);
    if (!is_elementwise(module_[id].op)) return is_split_reduction(id);
    const std::vector<Range> ranges = ranges_of(joined);
    return is_unpinned_dense_array(editor_, id) &&
           (!is_moved(id, joined) || goes_to_longer_runs(id, joined, 0)) &&
           std::ranges::all_of(module_.operands(id), [&](InstructionId operand) {
             return has_parts(operand, ranges, 0);
           });
  }
  // Loops that ask for elements at other places compute no more than the concatenation itself.
  bool is_moved(InstructionId id, InstructionId joined) const {
    return std::ranges::any_of(module_.users(id), [&](InstructionId user) {
      if (is_joined_on(user, joined) || is_split_slice(user, joined)) return false;
      const Op op = module_[user].op;
      return has_trait(op, TraitMoves) && !is_elementwise(op) && !is_communication(op);
    });
  }
  bool is_split_transpose(InstructionId id, InstructionId joined) const {
    return is_unpinned_dense_array(editor_, id) && !is_moved(id, joined) &&
           (moves_single_elements(id, joined) || lengthens_runs(id, joined));
  }
  // An array that more are put beside in the same dimension.
  bool is_joined_on(InstructionId id, InstructionId joined) const {
    return module_[id].op == Op::Concatenate && is_unpinned_dense_array(editor_, id) &&
           ranges_of(id)[0].dim == ranges_of(joined)[0].dim &&
           module_.operands(id).size() + module_.operands(joined).size() <= max_parts + 1;
  }
  // Elements side by side come from places apart, and no loop would know which part has them; or
  // all come from one part.
  bool is_split_slice(InstructionId id, InstructionId joined) const {
    if (module_[id].op != Op::Slice || !is_unpinned_dense_array(editor_, id) ||
        element_count(module_.shape(id)) == 0)
      return false;
    const std::vector<Range> ranges = ranges_of(joined);
    const SliceDim along = module_.attributes<SliceAttributes>(id).slice.dims[ranges[0].dim];
    return along.stride > 1 || std::ranges::any_of(ranges, [&](const Range& range) {
             return range.begin <= along.start && along.limit <= range.end;
           });
  }
  // Only single elements of what is joined change their place among its dimensions.
  bool moves_single_elements(InstructionId id, InstructionId joined) const {
    const std::vector<Range> ranges = ranges_of(joined);
    Dims order = module_.attributes<DimensionsAttributes>(id).dimensions;
    std::erase(order, static_cast<int64_t>(ranges[0].dim));
    return std::ranges::is_sorted(order) && std::ssize(ranges) == ranges.back().end;
  }
  // More elements of a part stand side by side behind a transpose than before.
  bool lengthens_runs(InstructionId id, InstructionId joined) const {
    if (module_[id].op != Op::Transpose) return false;
    const auto dim = static_cast<int64_t>(ranges_of(joined)[0].dim);
    return run_behind(id, joined_dim(id, dim)) > run_behind(joined, dim);
  }
  // A value of the joined array's dimensions is read by such a transpose alone, or by an
  // elementwise op of which this is true.
  bool goes_to_longer_runs(InstructionId value, InstructionId joined, size_t depth) const {
    const std::vector<InstructionId> users = module_.users(value);
    if (users.empty() || std::ranges::count(users, users[0]) != std::ssize(users) ||
        depth > SearchBudget::max_depth)
      return false;
    return lengthens_runs(users[0], joined) || (is_elementwise(module_[users[0]].op) &&
                                                goes_to_longer_runs(users[0], joined, depth + 1));
  }
  // Elements for which all dims to the left of the one behind `dim` are the same.
  int64_t run_behind(InstructionId value, int64_t dim) const {
    const Dims& dims = module_.shape(value).dims;
    return std::accumulate(dims.begin() + dim + 1, dims.end(), int64_t{1}, std::multiplies());
  }
  // Where a transpose puts a dimension of its operand.
  int64_t joined_dim(InstructionId transpose, int64_t dim) const {
    const Dims& order = module_.attributes<DimensionsAttributes>(transpose).dimensions;
    return std::ranges::find(order, dim) - order.begin();
  }
  bool is_split_reduction(InstructionId id) const {
    if (module_[id].op != Op::Reduce || module_[id].operand_count != 2 ||
        !is_unpinned_dense_array(editor_, id))
      return false;
    const auto combiner = find_combiner(module_, module_.attributes<ReduceAttributes>(id).to_apply);
    const auto type = module_.shape(id).type;
    return combiner && combiner->wide == type && combiner->element == type && !is_complex(type) &&
           module_[combiner->instruction].op != Op::Xor;
  }

  bool is_joined_to_be_split(InstructionId id) {
    if (module_[id].op != Op::Concatenate || !is_unpinned_dense_array(editor_, id)) return false;
    if (const auto known = to_be_split_.find(id.value); known != to_be_split_.end())
      return known->second;
    return to_be_split_[id.value] = find_whether_split(id);
  }
  bool find_whether_split(InstructionId joined) const {
    const auto parts = module_.operands(joined);
    const std::vector<InstructionId> users = module_.users(joined);
    if (parts.size() > max_parts || users.empty() || users.size() > max_readers ||
        module_[module_[joined].computation].root == joined ||
        element_count(module_.shape(joined)) < min_joined_elements ||
        !std::ranges::all_of(users, [&](InstructionId user) { return is_split(user, joined); }))
      return false;
    const auto is_computed = [&](InstructionId part) {
      return is_computed_from(part, [](const Module&, InstructionId) { return true; });
    };
    const auto is_costly = [&](InstructionId part) {
      return is_computed_from(part, [](const Module& module, InstructionId id) {
        return !has_trait(module[id].op, TraitCheap);
      });
    };
    return made_.contains(joined.value) || std::ranges::any_of(parts, is_costly) ||
           (parts.size() <= max_concatenated && goes_to_longer_runs(joined, joined, 0)) ||
           (parts.size() > max_concatenated && std::ranges::any_of(parts, is_computed)) ||
           (users.size() > 1 && std::ranges::all_of(parts, is_computed)) ||
           (parts.size() <= max_concatenated && has_many_short_rows(joined) &&
            std::ranges::any_of(users, [&](InstructionId user) {
              return is_elementwise(module_[user].op) && !has_trait(module_[user].op, TraitCheap);
            }));
  }
  // A loop over a row of these would choose between parts by branches, and not be vectors.
  bool has_many_short_rows(InstructionId joined) const {
    const auto dim = static_cast<int64_t>(ranges_of(joined)[0].dim);
    return run_behind(joined, dim - 1) <= longest_short_row &&
           element_count(module_.shape(joined)) >= worth_split_rows;
  }

  // Whether an elementwise op of this kind stands among what a loop makes the value of.
  template <class Kind>
  bool is_computed_from(InstructionId value, Kind is_of_kind) const {
    std::vector<InstructionId> seen = {value};
    for (size_t i = 0; i < seen.size() && seen.size() < SearchBudget::max_visited; ++i) {
      const Op op = module_[seen[i]].op;
      if (is_elementwise(op) && is_of_kind(module_, seen[i])) return true;
      const bool rearranges_one =
          has_trait(op, TraitRearranges) && module_[seen[i]].operand_count == 1;
      if (!is_elementwise(op) && !rearranges_one) continue;
      for (InstructionId operand : module_.operands(seen[i])) seen.push_back(operand);
    }
    return false;
  }

  InstructionId elementwise_of(InstructionId id, InstructionId joined) {
    const std::vector<Range> ranges = ranges_of(joined);
    std::vector<InstructionId> parts;
    for (size_t i = 0; i < ranges.size(); ++i) parts.push_back(op_of_parts(id, ranges, i));
    return joined_parts(id, parts, static_cast<int64_t>(ranges[0].dim));
  }
  // In the place of a value of these dimensions.
  InstructionId joined_parts(InstructionId id, const std::vector<InstructionId>& parts,
                             int64_t dim) {
    const Shape shape = module_.shape(id);
    return editor_.add(id, Op::Concatenate, shape, parts, DimensionsAttributes{{dim}});
  }

  // Whether parts of a value are no more work than the value: another concatenation of such parts,
  // what stands in memory, what is made of one number, and ops on such that nobody else reads.
  bool has_parts(InstructionId value, const std::vector<Range>& ranges, size_t depth) const {
    const Op op = module_[value].op;
    if (!is_unpinned_dense_array(editor_, value) || depth > SearchBudget::max_depth) return false;
    if (op == Op::Concatenate && is_joined_alike(value, ranges)) return true;
    if (op == Op::Broadcast || op == Op::Parameter || op == Op::GetTupleElement ||
        module_.shape(value).is_scalar())
      return true;
    return is_elementwise(op) && editor_.use_count(value) == 1 &&
           std::ranges::all_of(module_.operands(value), [&](InstructionId operand) {
             return has_parts(operand, ranges, depth + 1);
           });
  }
  bool is_joined_alike(InstructionId value, const std::vector<Range>& ranges) const {
    const std::vector<Range> own = ranges_of(value);
    return std::ranges::equal(own, ranges, [](const Range& a, const Range& b) {
      return a.dim == b.dim && a.end == b.end;
    });
  }

  InstructionId part_of(InstructionId value, const std::vector<Range>& ranges, size_t i) {
    const Op op = module_[value].op;
    if (module_.shape(value).is_scalar()) return value;
    if (op == Op::Concatenate && is_joined_alike(value, ranges)) return module_.operand(value, i);
    if (op == Op::Broadcast) return part_of_broadcast(value, ranges[i]);
    return is_elementwise(op) ? op_of_parts(value, ranges, i) : slice(value, ranges[i]);
  }
  InstructionId op_of_parts(InstructionId id, const std::vector<Range>& ranges, size_t i) {
    const auto given = module_.operands(id);
    std::vector<InstructionId> operands(given.begin(), given.end());
    for (InstructionId& operand : operands) operand = part_of(operand, ranges, i);
    const InstructionId out = editor_.clone(id, module_[id].computation, operands);
    editor_.set_shape(out, part_shape(id, ranges[i]));
    if (module_[out].extra) module_.mutable_extra(out).sharding = nullptr;
    return out;
  }
  InstructionId part_of_broadcast(InstructionId value, const Range& range) {
    InstructionId from = module_.operand(value, 0);
    const Dims dims = module_.attributes<DimensionsAttributes>(value).dimensions;
    const auto at = std::ranges::find(dims, static_cast<int64_t>(range.dim));
    if (at != dims.end())
      from = slice(from, {static_cast<size_t>(at - dims.begin()), range.begin, range.end});
    const Shape shape = part_shape(value, range);
    if (element_count(shape) == element_count(module_.shape(from)) && std::ranges::is_sorted(dims))
      return editor_.add(value, Op::Reshape, shape, {&from, 1});
    return editor_.add(value, Op::Broadcast, shape, {&from, 1}, DimensionsAttributes{dims});
  }
  InstructionId slice(InstructionId value, const Range& range) {
    SliceAttributes out;
    const Dims dims = module_.shape(value).dims;
    for (size_t d = 0; d < dims.size(); ++d)
      out.slice.dims.push_back(d == range.dim ? SliceDim{range.begin, range.end, 1}
                                              : SliceDim{0, dims[d], 1});
    return editor_.add_inferred(value, Op::Slice, {&value, 1}, std::move(out));
  }
  Shape part_shape(InstructionId value, const Range& range) const {
    Shape out = Shape::array(module_.shape(value).type, module_.shape(value).dims);
    out.dims[range.dim] = range.end - range.begin;
    return Shape::array(out.type, out.dims);
  }

  InstructionId transpose_of(InstructionId id, InstructionId joined) {
    const int64_t dim = joined_dim(id, static_cast<int64_t>(ranges_of(joined)[0].dim));
    const DimensionsAttributes order = module_.attributes<DimensionsAttributes>(id);
    const std::vector<Range> ranges = ranges_of(joined);
    const bool are_single = moves_single_elements(id, joined);
    const auto given = module_.operands(joined);
    std::vector<InstructionId> parts(given.begin(), given.end());
    for (size_t i = 0; i < parts.size(); ++i) {
      const Range range = {static_cast<size_t>(dim), ranges[i].begin, ranges[i].end};
      const Shape of_part = part_shape(id, range);
      parts[i] = are_single ? editor_.add(id, Op::Reshape, of_part, std::array{parts[i]})
                            : editor_.add(id, Op::Transpose, of_part, std::array{parts[i]}, order);
    }
    return joined_parts(id, parts, dim);
  }

  InstructionId flat_of(InstructionId id) {
    const int64_t dim = module_.attributes<DimensionsAttributes>(id).dimensions[0];
    std::vector<InstructionId> parts;
    for (InstructionId part : module_.operands(id)) {
      if (!is_joined_to_be_split(part)) parts.push_back(part);
      else std::ranges::copy(module_.operands(part), std::back_inserter(parts));
    }
    return joined_parts(id, parts, dim);
  }

  InstructionId slice_of(InstructionId id, InstructionId joined) {
    const SliceAttributes whole = module_.attributes<SliceAttributes>(id);
    const std::vector<Range> ranges = ranges_of(joined);
    const size_t dim = ranges[0].dim;
    const SliceDim along = whole.slice.dims[dim];
    const auto given = module_.operands(joined);
    const std::vector<InstructionId> of(given.begin(), given.end());
    std::vector<InstructionId> parts;
    int64_t next = along.start;
    for (size_t i = 0; i < of.size(); ++i) {
      const int64_t end = std::min(ranges[i].end, along.limit);
      if (next >= end) continue;
      SliceAttributes slice = whole;
      slice.slice.dims[dim] = {next - ranges[i].begin, end - ranges[i].begin, along.stride};
      parts.push_back(is_whole(slice, of[i])
                          ? of[i]
                          : editor_.add_inferred(id, Op::Slice, std::array{of[i]}, slice));
      next += (end - next + along.stride - 1) / along.stride * along.stride;
    }
    return parts.size() == 1 ? parts[0] : joined_parts(id, parts, static_cast<int64_t>(dim));
  }

  bool is_whole(const SliceAttributes& slice, InstructionId value) const {
    const Dims& dims = module_.shape(value).dims;
    for (size_t d = 0; d < dims.size(); ++d)
      if (slice.slice.dims[d] != SliceDim{0, dims[d], 1}) return false;
    return true;
  }

  InstructionId reduction_of(InstructionId id, InstructionId joined) {
    const Range first = ranges_of(joined)[0];
    const ReduceAttributes attributes = module_.attributes<ReduceAttributes>(id);
    const auto dim = static_cast<int64_t>(first.dim);
    const bool is_reduced = std::ranges::count(attributes.dimensions, dim) > 0;
    const Op op = module_[find_combiner(module_, attributes.to_apply)->instruction].op;
    const InstructionId init = module_.operand(id, 1);
    const InstructionId identity = is_reduced ? identity_of(id, op) : init;
    const auto given = module_.operands(joined);
    std::vector<InstructionId> parts(given.begin(), given.end());
    const Shape shape = module_.shape(id);
    for (size_t i = 0; i < parts.size(); ++i)
      if (i > 0 && is_reduced && element_count(module_.shape(parts[i])) == element_count(shape))
        parts[i] = editor_.add(id, Op::Reshape, shape, std::array{parts[i]});
      else
        parts[i] = editor_.add_inferred(id, Op::Reduce,
                                        std::array{parts[i], i == 0 ? init : identity}, attributes);
    if (!is_reduced) {
      const int64_t before =
          std::ranges::count_if(attributes.dimensions, [&](int64_t d) { return d < dim; });
      return joined_parts(id, parts, dim - before);
    }
    InstructionId out = parts[0];
    for (size_t i = 1; i < parts.size(); ++i)
      out = editor_.add_inferred(id, op, std::array{out, parts[i]});
    return out;
  }
  // What changes nothing; choices may take the initial value again.
  InstructionId identity_of(InstructionId reduce, Op op) {
    const InstructionId init = module_.operand(reduce, 1);
    const ElementType type = module_.shape(init).type;
    if (op == Op::Add)
      return editor_.add_constant(reduce, scalar_of(type, is_floating(type) ? -0.0 : 0));
    return op == Op::Multiply ? editor_.add_constant(reduce, scalar_of(type, 1)) : init;
  }

  Module& module_;
  Editor editor_;
  std::unordered_map<uint32_t, bool> to_be_split_;
  std::unordered_set<uint32_t> made_;  // of parts of others, which go on as far as they can
};

}  // namespace

Result<bool> split_concatenations(Module& module, const PassOptions&) {
  return Splitter(module).run();
}

}  // namespace hilo

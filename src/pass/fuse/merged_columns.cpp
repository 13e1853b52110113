// Dimensions side by side that a reduction of computed values keeps, the last of them short, are
// one in all that is computed of these arrays, so that vectors go along both:
//
//   sum(f(x[b,n,12,3], broadcast(y[b,12,3])))  =>  sum(f(x[b,n,36], broadcast(y[b,36])))
//
// by bitcasts of what stands in memory, which move nothing. The ops are elementwise, broadcasts
// that spread both dimensions or neither, and reductions that keep both. Values are the same.
// Assumes plain layouts. Later passes may assume nothing. Stands before reduction-splitter and
// fusion.
#include <algorithm>
#include <map>

#include "pass/dense_arrays.h"
#include "pass/pass.h"

namespace hilo {
namespace {

class ColumnMerger {
 public:
  explicit ColumnMerger(Module& module) : module_(module), editor_(module) {}

  bool run() {
    bool changed = false;
    for (ComputationId computation : open_computations(module_))
      for (InstructionId id : operands_first(module_, computation))
        if (!module_[id].removed && is_of_short_columns(id) && find_ops(id)) {
          merge();
          changed = true;
        }
    return changed;
  }

 private:
  // A reduction of what elementwise ops make, whose last kept dimensions end the array.
  bool is_of_short_columns(InstructionId id) const {
    if (!is_reduction(id) || module_.shape(id).rank() < 2) return false;
    const Shape& from = module_.shape(module_.operand(id, 0));
    const Dims& reduced = module_.attributes<ReduceAttributes>(id).dimensions;
    const int64_t last = from.rank() - 1;
    return is_elementwise(module_[module_.operand(id, 0)].op) &&
           from.dims.back() < LoopLimits::short_row && from.dims.back() > 1 &&
           from.dims[static_cast<size_t>(last - 1)] > 1 &&
           std::ranges::none_of(reduced, [&](int64_t d) { return d >= last - 1; });
  }
  bool is_reduction(InstructionId id) const {
    return module_[id].op == Op::Reduce && module_[id].operand_count == 2 &&
           is_unpinned_dense_array(editor_, id) &&
           is_unpinned_dense_array(editor_, module_.operand(id, 0));
  }

  // All that can be computed of merged arrays, and the first of the two dimensions in each.
  bool find_ops(InstructionId reduction) {
    first_.clear();
    waiting_ = {module_.operand(reduction, 0)};
    first_[waiting_[0]] = module_.shape(waiting_[0]).rank() - 2;
    fits_ = true;
    for (size_t i = 0; i < waiting_.size() && fits_; ++i) {
      const InstructionId id = waiting_[i];
      visit_operands(id, first_[id]);
      for (InstructionId user : module_.users(id)) visit_user(user, first_[id]);
      fits_ = fits_ && waiting_.size() <= SearchBudget::max_visited;
    }
    return fits_;
  }

  void visit(InstructionId id, std::optional<int64_t> first) {
    if (!first || !is_op(id) || !has_form(id, *first)) return;
    const auto [known, is_new] = first_.emplace(id, *first);
    if (is_new) waiting_.push_back(id);
    else fits_ = fits_ && known->second == *first;
  }
  bool is_op(InstructionId id) const {
    const Op op = module_[id].op;
    return is_unpinned_dense_array(editor_, id) &&
           (op == Op::Broadcast || is_reduction(id) || (is_elementwise(op) && op != Op::Copy));
  }
  // Whether the op treats both dimensions of its result alike.
  bool has_form(InstructionId id, int64_t first) const {
    if (module_[id].op == Op::Reduce) return operand_first(id, first).has_value();
    if (module_[id].op != Op::Broadcast) return true;
    const Dims& to = module_.attributes<DimensionsAttributes>(id).dimensions;
    const auto uses = std::ranges::count(to, first) + std::ranges::count(to, first + 1);
    return std::ranges::is_sorted(to) && (uses == 0 || uses == 2);
  }

  // Where operand 0 has the two dimensions that begin at `first` of the result.
  std::optional<int64_t> operand_first(InstructionId id, int64_t first) const {
    if (module_[id].op == Op::Broadcast) {
      const Dims& to = module_.attributes<DimensionsAttributes>(id).dimensions;
      const auto at = std::ranges::find(to, first);
      if (at == to.end()) return std::nullopt;
      return at - to.begin();
    }
    if (module_[id].op != Op::Reduce) return first;
    const Dims& reduced = module_.attributes<ReduceAttributes>(id).dimensions;
    Dims kept;
    for (int64_t d = 0; d < module_.shape(module_.operand(id, 0)).rank(); ++d)
      if (std::ranges::count(reduced, d) == 0) kept.push_back(d);
    const auto at = static_cast<size_t>(first);
    if (kept[at + 1] != kept[at] + 1) return std::nullopt;
    return kept[at];
  }
  // Where the user's result has those of the operand; nothing where it reduces both.
  std::optional<int64_t> result_first(InstructionId user, int64_t first) const {
    if (module_[user].op == Op::Broadcast) {
      const Dims& to = module_.attributes<DimensionsAttributes>(user).dimensions;
      const auto at = static_cast<size_t>(first);
      if (to[at + 1] != to[at] + 1) return std::nullopt;
      return to[at];
    }
    if (module_[user].op != Op::Reduce) return first;
    const Dims& reduced = module_.attributes<ReduceAttributes>(user).dimensions;
    if (std::ranges::count(reduced, first) + std::ranges::count(reduced, first + 1) > 0)
      return std::nullopt;
    return first - std::ranges::count_if(reduced, [&](int64_t d) { return d < first; });
  }

  // Other values must stand in memory: in a loop a reshape would take divisions for each element.
  void visit_operands(InstructionId id, int64_t first) {
    const auto at = operand_first(id, first);
    for (InstructionId operand : module_.operands(id)) {
      if (!at || module_.shape(operand).is_scalar()) continue;
      visit(operand, at);
      fits_ = fits_ && (first_.contains(operand) || stands_in_memory(operand));
    }
  }
  void visit_user(InstructionId user, int64_t first) {
    if (is_op(user)) visit(user, result_first(user, first));
  }

  Shape merged_shape(InstructionId id, int64_t first) const {
    Dims dims = module_.shape(id).dims;
    const auto at = dims.begin() + first;
    at[0] *= at[1];
    dims.erase(at + 1);
    return Shape::array(module_.shape(id).type, dims);
  }

  void merge() {
    merged_.clear();
    bitcasts_.clear();
    std::vector<InstructionId> ops;
    for (InstructionId id : operands_first(module_, module_[waiting_[0]].computation))
      if (first_.contains(id)) ops.push_back(id);
    for (InstructionId id : ops) merged_[id] = merged_op(id, first_[id]);
    for (InstructionId id : ops) {
      const auto users = module_.users(id);
      const bool is_read_elsewhere =
          module_[module_[id].computation].root == id ||
          std::ranges::any_of(users, [&](InstructionId user) { return !first_.contains(user); });
      if (is_read_elsewhere)
        editor_.replace(
            id, editor_.add(id, Op::Reshape, Shape(module_.shape(id)), std::array{merged_[id]}));
    }
  }

  InstructionId merged_op(InstructionId id, int64_t first) {
    const auto given = module_.operands(id);
    std::vector<InstructionId> operands(given.begin(), given.end());
    const auto operand = operand_first(id, first);
    for (InstructionId& value : operands)
      if (operand && !module_.shape(value).is_scalar()) value = merged_value(value, *operand);
    const Shape shape = merged_shape(id, first);
    if (module_[id].op == Op::Broadcast) {
      Dims to = module_.attributes<DimensionsAttributes>(id).dimensions;
      std::erase(to, first + 1);
      for (int64_t& d : to) d -= d > first ? 1 : 0;
      return editor_.add(id, Op::Broadcast, shape, operands, DimensionsAttributes{std::move(to)});
    }
    if (module_[id].op == Op::Reduce) {
      ReduceAttributes a = module_.attributes<ReduceAttributes>(id);
      for (int64_t& d : a.dimensions) d -= d > *operand ? 1 : 0;
      return editor_.add(id, Op::Reduce, shape, operands, std::move(a));
    }
    const InstructionId out = editor_.clone(id, module_[id].computation, operands);
    editor_.set_shape(out, shape);
    if (module_[out].extra) module_.mutable_extra(out).sharding = nullptr;
    return out;
  }
  // What no loop makes where it reads it: of this the merged array is the same memory.
  bool stands_in_memory(InstructionId id) const {
    return has_trait(module_[id].op, TraitStored) && is_unpinned_dense_array(editor_, id);
  }
  InstructionId merged_value(InstructionId id, int64_t first) {
    if (first_.contains(id)) return merged_.at(id);
    const auto known = bitcasts_.find({id, first});
    if (known != bitcasts_.end()) return known->second;
    const InstructionId out = editor_.add(id, Op::Bitcast, merged_shape(id, first), std::array{id});
    return bitcasts_[{id, first}] = out;
  }

  Module& module_;
  Editor editor_;
  std::map<InstructionId, int64_t> first_;  // of the ops that are found
  std::vector<InstructionId> waiting_;      // the same, in the order of finding
  bool fits_ = true;
  std::map<InstructionId, InstructionId> merged_;
  std::map<std::pair<InstructionId, int64_t>, InstructionId> bitcasts_;  // of others
};

}  // namespace

Result<bool> merge_columns_of_reductions(Module& module, const PassOptions&) {
  return ColumnMerger(module).run();
}

}  // namespace hilo

// Computes before a loop what is the same in each of its rounds.
//   while(s) { … f(s.i) … }, s.i unchanged => y = f(initial i); while(s, y) { … s.y … }
// Values that are larger than what they are made from stay, because they would be carried. Assumes
// nothing. Later passes may assume that a loop's body depends on the round. After simplify_loops,
// which puts constants into the body, where they are free.
#include <algorithm>

#include "pass/control/loop.h"
#include "pass/loop_limits.h"

namespace hilo {
namespace {

class Hoister {
 public:
  explicit Hoister(Module& module) : module_(module), editor_(module) {}

  bool run() {
    bool changed = false;
    loops_ = find_loops(editor_);
    for (const Loop& loop : loops_)
      if (!module_[loop.instruction].removed) changed |= hoist(loop);
    return changed;
  }

 private:
  // Ops that cost nothing, or are fused with what uses them.
  bool is_free(Op op) const {
    return has_trait(op, TraitNoTraffic) || info(op).operands == 0 || op == Op::Tuple ||
           op == Op::Broadcast || op == Op::Reshape;
  }

  // So is a part of a constant, which is there in any case, and one of what the loop carries, where
  // it is read as it stands, or in long rows element by element; and what is made of numbers so.
  bool is_free(InstructionId id) const {
    const Op op = module_[id].op;
    if (op != Op::Slice)
      return is_free(op) ||
             (is_computed_from_scalars(module_, id) && is_read_by_elements(module_, id));
    if (has_long_rows(id) && is_read_by_elements(module_, id)) return true;
    if (module_[module_.operand(id, 0)].op == Op::GetTupleElement &&
        contiguous_slice_start(module_, id) >= 0)
      return true;
    InstructionId from = module_.operand(id, 0);
    while (module_[from].op == Op::Slice || module_[from].op == Op::Bitcast ||
           module_[from].op == Op::Reshape)
      from = module_.operand(from, 0);
    return module_[from].op == Op::Constant;
  }

  // Whose elements side by side are read as well there as in an array of their own.
  bool has_long_rows(InstructionId slice) const {
    const std::vector<SliceDim>& dims = module_.attributes<SliceAttributes>(slice).slice.dims;
    return !dims.empty() && dims.back().stride == 1 &&
           module_.shape(slice).dims.back() >= LoopLimits::whole_lanes;
  }

  bool hoist(const Loop& loop) {
    if (!can_change_state(module_, loop) || editor_.is_pinned(loop.instruction)) return false;
    if (const auto rounds = trip_count(module_, loop.instruction); rounds && *rounds < 2)
      return false;
    find_invariant(loop);
    const std::vector<InstructionId> wanted = find_wanted(loop);
    if (wanted.empty()) return false;
    std::vector<InstructionId> outside;
    for (InstructionId id : wanted) outside.push_back(copy_outside(loop, id));
    const std::vector<bool> kept(loop.size, true);
    const auto inside = change_state(editor_, loop, kept, outside);
    for (size_t i = 0; i < wanted.size(); ++i) editor_.replace(wanted[i], inside[i]);
    return true;
  }

  void find_invariant(const Loop& loop) {
    invariant_.resize(module_.instructions.size());
    for (InstructionId id : operands_first(module_, loop.body)) {
      if (module_[id].op == Op::GetTupleElement && module_.operand(id, 0) == loop.body_state) {
        const int64_t i = module_.attributes<GetTupleElementAttributes>(id).index;
        invariant_[id.value] = is_invariant(module_, loop, i) && initial_element(module_, loop, i);
        continue;
      }
      if (module_[id].op == Op::Parameter ||
          (module_[id].op == Op::While && !may_hoist(loop, id)) ||
          is_communication(module_[id].op) || editor_.is_pinned(id) || editor_.effects().has(id))
        continue;
      const auto operands = module_.operands(id);
      invariant_[id.value] = std::ranges::all_of(
          operands, [&](InstructionId operand) { return invariant_[operand.value]; });
    }
  }

  // A loop inside is done for certain, and as often without the loop around it.
  bool may_hoist(const Loop& loop, InstructionId inner) const {
    const auto known = std::ranges::find(loops_, inner, &Loop::instruction);
    return known != loops_.end() && can_duplicate_body(editor_, *known) &&
           trip_count(module_, loop.instruction) && trip_count(module_, inner);
  }
  bool is_result_of_loop(InstructionId id) const {
    return module_[id].op == Op::GetTupleElement && module_[module_.operand(id, 0)].op == Op::While;
  }

  // Invariant values that others use, and that are worth being carried.
  std::vector<InstructionId> find_wanted(const Loop& loop) const {
    std::vector<InstructionId> out;
    for (InstructionId id : module_[loop.body].instructions) {
      if (module_[id].removed || !invariant_[id.value] || (is_free(id) && !is_result_of_loop(id)))
        continue;
      const auto users = module_.users(id);
      const bool is_needed = std::ranges::any_of(
          users, [&](InstructionId user) { return !invariant_[user.value] || is_free(user); });
      if (is_needed && module_.shape(id).is_array() && !is_larger(id)) out.push_back(id);
    }
    return out;
  }

  bool is_larger(InstructionId id) const {
    int64_t bytes = 0;
    for (InstructionId operand : module_.operands(id))
      bytes += literal_bytes(module_.shape(operand));
    return literal_bytes(module_.shape(id)) > bytes;
  }

  InstructionId copy_outside(const Loop& loop, InstructionId wanted) {
    const ComputationId around = module_[loop.instruction].computation;
    std::vector<InstructionId> stack = {wanted};
    while (!stack.empty()) {
      const InstructionId top = stack.back();
      std::vector<InstructionId> operands;
      bool ready = true;
      if (module_[top].op == Op::GetTupleElement && module_.operand(top, 0) == loop.body_state) {
        const int64_t i = module_.attributes<GetTupleElementAttributes>(top).index;
        copies_[top.value] = initial_element(module_, loop, i);
      }
      if (copies_.contains(top.value)) {
        stack.pop_back();
        continue;
      }
      const auto given = module_.operands(top);
      for (InstructionId operand : std::vector(given.begin(), given.end())) {
        const auto found = copies_.find(operand.value);
        if (found == copies_.end()) ready = false, stack.push_back(operand);
        else operands.push_back(found->second);
      }
      if (ready) copies_[top.value] = editor_.clone(top, around, operands);
    }
    return copies_[wanted.value];
  }

  Module& module_;
  Editor editor_;
  std::vector<Loop> loops_;
  std::vector<bool> invariant_;
  std::unordered_map<uint32_t, InstructionId> copies_;  // outside, by what stands in the body
};

}  // namespace

Result<bool> hoist_invariants(Module& module, const PassOptions&) { return Hoister(module).run(); }

}  // namespace hilo

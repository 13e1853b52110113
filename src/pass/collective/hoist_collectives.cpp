// Communicates before a loop what is the same in each of its rounds.
//   while(s) { … all-gather(f(s.i)) … }, s.i unchanged => y = all-gather(f(initial i)) before
// Where the loop has two rounds or more, or nobody knows, and while the machine has memory for what
// is then carried. Assumes nothing. Later passes may assume that collectives in loops depend on
// the round. While-loop-invariant code motion leaves collectives alone, for it knows no memory.
#include <algorithm>

#include "pass/collective/device_groups.h"
#include "pass/control/loop.h"

namespace hilo {
namespace {

class Hoister {
 public:
  Hoister(Module& module, const PassOptions& options)
      : module_(module), editor_(module), machine_(options.machine) {}

  bool run() {
    bool changed = false;
    for (const Loop& loop : find_loops(editor_))
      if (!module_[loop.instruction].removed) changed |= hoist(loop);
    return changed;
  }

 private:
  bool hoist(const Loop& loop) {
    if (!can_change_state(module_, loop) || editor_.is_pinned(loop.instruction)) return false;
    if (const auto rounds = trip_count(module_, loop.instruction); rounds && *rounds < 2)
      return false;
    find_invariant(loop);
    std::vector<InstructionId> wanted;
    for (InstructionId id : module_[loop.body].instructions)
      if (!module_[id].removed && invariant_[id.value] && is_hoistable(id) && has_memory_for(id))
        wanted.push_back(id);
    if (wanted.empty()) return false;
    copies_.clear();
    std::vector<InstructionId> outside;
    for (InstructionId id : wanted) outside.push_back(copy_outside(loop, id));
    const auto inside = change_state(editor_, loop, std::vector<bool>(loop.size, true), outside);
    for (size_t i = 0; i < wanted.size(); ++i) editor_.replace_moved(wanted[i], inside[i]);
    return true;
  }

  bool is_hoistable(InstructionId id) const {
    return has_trait(module_[id].op, TraitCollective) && module_.shape(id).is_array() &&
           !module_.extra(module_[id]).sharding && !editor_.is_pinned(id);
  }

  void find_invariant(const Loop& loop) {
    invariant_.resize(module_.instructions.size());
    for (InstructionId id : operands_first(module_, loop.body)) {
      const Op op = module_[id].op;
      if (op == Op::GetTupleElement && module_.operand(id, 0) == loop.body_state) {
        const int64_t i = module_.attributes<GetTupleElementAttributes>(id).index;
        invariant_[id.value] = is_invariant(module_, loop, static_cast<size_t>(i)) &&
                               initial_element(module_, loop, static_cast<size_t>(i));
        continue;
      }
      const bool is_collective = has_trait(op, TraitCollective);
      if (op == Op::Parameter || editor_.is_pinned(id) || !module_[id].computation ||
          (!is_collective && (is_communication(op) || editor_.effects().has(id))) ||
          (!is_collective && !is_elementwise(op) && op == Op::While))
        continue;
      invariant_[id.value] = std::ranges::all_of(
          module_.operands(id), [&](InstructionId operand) { return invariant_[operand.value]; });
    }
  }

  // Beside what the module has alive at its peak.
  bool has_memory_for(InstructionId id) {
    if (!machine_) return true;
    const int64_t capacity = memory_space(*machine_, 0).bytes;
    if (capacity == 0) return true;
    if (!peak_) {
      const auto aliases = find_aliases(module_);
      if (!aliases) return false;
      peak_ = find_peak(module_, *aliases, find_liveness(module_, *aliases, schedule_of(module_)))
                  .bytes;
    }
    const int64_t bytes = buffer_bytes(*machine_, module_.shape(id));
    if (bytes > capacity - *peak_) return false;
    *peak_ += bytes;
    return true;
  }

  InstructionId copy_outside(const Loop& loop, InstructionId wanted) {
    const ComputationId around = module_[loop.instruction].computation;
    std::vector<InstructionId> stack = {wanted};
    while (!stack.empty()) {
      const InstructionId top = stack.back();
      if (module_[top].op == Op::GetTupleElement && module_.operand(top, 0) == loop.body_state)
        copies_[top.value] = initial_element(
            module_, loop,
            static_cast<size_t>(module_.attributes<GetTupleElementAttributes>(top).index));
      std::vector<InstructionId> operands;
      const size_t waiting = stack.size();
      if (!copies_.contains(top.value))
        for (InstructionId operand : module_.operands(top))
          if (const auto found = copies_.find(operand.value); found != copies_.end())
            operands.push_back(found->second);
          else stack.push_back(operand);
      if (stack.size() > waiting) continue;
      if (!copies_.contains(top.value)) copies_[top.value] = editor_.clone(top, around, operands);
      stack.pop_back();
    }
    return copies_[wanted.value];
  }

  Module& module_;
  Editor editor_;
  const Machine* machine_;
  std::optional<int64_t> peak_;  // bytes alive, once asked for
  std::vector<bool> invariant_;
  std::unordered_map<uint32_t, InstructionId> copies_;  // outside, by what stands in the body
};

}  // namespace

Result<bool> hoist_collectives(Module& module, const PassOptions& options) {
  return Hoister(module, options).run();
}

}  // namespace hilo

// Takes out of while loops what need not be in them.
//   a loop of no round => what it begins with; of one round => its body
//   element i goes through unchanged => users behind the loop get the initial value, and a constant
//     stands in the body and the condition itself, and so does what is made of numbers where it is
//     read element by element
//   elements i and k count alike, from one number by one step => users of k get i
//   element i is needed neither behind the loop, by the condition, nor for another that is => gone
// Assumes nothing; loops of other forms than control/loop.h tells stay. Later passes may assume
// that each element of a loop's state matters. After constant folding, which makes trip counts
// visible.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "pass/control/loop.h"

namespace hilo {
namespace {

class LoopSimplifier {
 public:
  LoopSimplifier(Module& module, const PassOptions& options)
      : module_(module), options_(options), editor_(module) {}

  bool run() {
    bool changed = false;
    for (const Loop& loop : find_loops(editor_)) {
      if (module_[loop.instruction].removed) continue;
      if (run_few_rounds(loop)) {
        changed = true;
        continue;
      }
      changed |= forward_invariants(loop);
      if (!module_[loop.instruction].removed) changed |= merge_counters(loop);
      // When nothing behind the loop asks for it any more, it is gone.
      if (!module_[loop.instruction].removed) changed |= drop_dead(loop);
    }
    return changed;
  }

 private:
  bool run_few_rounds(const Loop& loop) {
    if (editor_.is_pinned(loop.instruction) || editor_.effects().has(loop.condition)) return false;
    const auto rounds = trip_count(module_, loop.instruction);
    if (!rounds || *rounds > 1 || *rounds < 0) return false;
    const InstructionId initial = module_.operand(loop.instruction, 0);
    if (!same_with_layout(module_.shape(initial), module_.shape(loop.instruction))) return false;
    InstructionId result = initial;
    if (*rounds == 1)
      result =
          editor_.clone_body(loop.body, module_[loop.instruction].computation, std::array{initial});
    editor_.replace_moved(loop.instruction, result);
    return true;
  }

  // A value that may be recomputed inside of the loop instead of being carried.
  bool is_cheap(InstructionId id) const {
    const bool is_splat = module_[id].op == Op::Broadcast &&
                          constant_of(module_, module_.operand(id, 0)) &&
                          module_.shape(module_.operand(id, 0)).is_scalar();
    return is_splat ||
           (constant_of(module_, id) && literal_bytes(module_.shape(id)) <= options_.fold_bytes);
  }

  // Element i of the state, made of numbers, is read inside element by element alone.
  bool can_rematerialize_inside(const Loop& loop, size_t i, InstructionId initial) const {
    if (!is_computed_from_scalars(module_, initial)) return false;
    const InstructionId root = module_[loop.body].root;
    for (InstructionId state : {loop.body_state, loop.condition_state}) {
      const Elements elements = elements_of(module_, state);
      for (InstructionId element : elements.by_index[i])
        for (InstructionId user : module_.users(element))
          if (user != root && !reads_by_elements(module_, user)) return false;
    }
    return true;
  }

  bool forward_invariants(const Loop& loop) {
    bool changed = false;
    const Elements behind = elements_of(module_, loop.instruction);
    for (size_t i = 0; i < loop.size; ++i) {
      if (module_[loop.instruction].removed) break;
      const InstructionId initial = initial_element(module_, loop, i);
      if (!initial || !is_invariant(module_, loop, i)) continue;
      for (InstructionId element : behind.by_index[i])
        if (module_.has_users(element) && editor_.can_replace(element, initial)) {
          editor_.replace(element, initial);
          changed = true;
        }
      if (!module_[loop.instruction].removed &&
          (is_cheap(initial) || can_rematerialize_inside(loop, i, initial))) {
        changed |= sink(loop, loop.body_state, i, initial);
        changed |= sink(loop, loop.condition_state, i, initial);
      }
    }
    return changed;
  }

  // Users of element i inside, but for the body's own result, get a copy of the initial value.
  bool sink(const Loop& loop, InstructionId state, size_t i, InstructionId initial) {
    const ComputationId inside = module_[state].computation;
    const InstructionId root = module_[loop.body].root;
    InstructionId copy;
    const Elements elements = elements_of(module_, state);
    for (InstructionId element : elements.by_index[i])
      for (InstructionId user : module_.users(element)) {
        if (user == root) continue;
        if (!same_with_layout(module_.shape(element), module_.shape(initial))) return false;
        if (!copy) copy = copy_into(inside, initial);
        for (size_t k = 0; k < module_[user].operand_count; ++k)
          if (module_.operand(user, k) == element) editor_.set_operand(user, k, copy);
      }
    return static_cast<bool>(copy);
  }

  // With what it is made of.
  InstructionId copy_into(ComputationId inside, InstructionId value) {
    std::unordered_map<uint32_t, InstructionId> copies;
    const auto copy = [&](auto& self, InstructionId id) -> InstructionId {
      if (const auto found = copies.find(id.value); found != copies.end()) return found->second;
      const auto given = module_.operands(id);
      std::vector<InstructionId> operands(given.begin(), given.end());
      for (InstructionId& operand : operands) operand = self(self, operand);
      return copies[id.value] = editor_.clone(id, inside, operands);
    };
    return copy(copy, value);
  }

  struct Counter {
    ElementType type;
    int64_t first, step;
    bool operator==(const Counter&) const = default;
  };
  std::optional<int64_t> integer_of(InstructionId id) const {
    const Literal* literal = id ? constant_of(module_, id) : nullptr;
    if (!literal || !literal->shape().is_scalar() || !is_integral(literal->shape().type))
      return std::nullopt;
    return literal->integer_at(0);
  }

  // What element i is in each round: first + round * step, in its type.
  std::optional<Counter> counter_of(const Loop& loop, size_t i) const {
    const InstructionId next = next_element(module_, loop, i);
    if (module_[next].op != Op::Add) return std::nullopt;
    InstructionId count = module_.operand(next, 0), by = module_.operand(next, 1);
    if (module_[count].op != Op::GetTupleElement) std::swap(count, by);
    if (module_[count].op != Op::GetTupleElement || module_.operand(count, 0) != loop.body_state ||
        module_.attributes<GetTupleElementAttributes>(count).index != static_cast<int64_t>(i))
      return std::nullopt;
    const auto first = integer_of(initial_element(module_, loop, i)), step = integer_of(by);
    if (!first || !step) return std::nullopt;
    return Counter{module_.shape(next).type, *first, *step};
  }

  bool merge_counters(const Loop& loop) {
    if (elements_of(module_, loop.instruction).whole) return false;
    std::vector<std::pair<size_t, Counter>> known;
    bool changed = false;
    for (size_t i = 0; i < loop.size; ++i) {
      const auto counter = counter_of(loop, i);
      if (!counter) continue;
      const auto same = std::ranges::find(known, *counter, &std::pair<size_t, Counter>::second);
      if (same == known.end()) known.emplace_back(i, *counter);
      else
        for (InstructionId state : {loop.body_state, loop.condition_state, loop.instruction})
          changed |= read_instead(state, i, same->first);
    }
    return changed;
  }

  bool read_instead(InstructionId state, size_t from, size_t to) {
    bool changed = false;
    const Elements elements = elements_of(module_, state);
    for (InstructionId element : elements.by_index[from]) {
      if (!module_.has_users(element)) continue;
      const InstructionId other = editor_.add_element(element, state, static_cast<int64_t>(to));
      if (editor_.can_replace(element, other)) {
        editor_.replace(element, other);
        changed = true;
      } else {
        editor_.remove_unused(other);
      }
    }
    return changed;
  }

  bool drop_dead(const Loop& loop) {
    const Elements behind = elements_of(module_, loop.instruction);
    if (behind.whole || !can_change_state(module_, loop)) return false;
    const std::vector<InstructionId> order = operands_first(module_, loop.body);
    bool swept = false;
    for (size_t i = order.size(); i-- > 0;)
      if (editor_.is_unused(order[i])) {
        editor_.remove_unused(order[i]);
        swept = true;
      }
    std::vector<bool> live(loop.size);
    const Elements asked = elements_of(module_, loop.condition_state);
    for (size_t i = 0; i < loop.size; ++i) {
      const auto is_used = [&](InstructionId id) {
        return module_.has_users(id) || module_[module_[id].computation].root == id ||
               editor_.is_pinned(id);
      };
      live[i] = std::ranges::any_of(behind.by_index[i], is_used) ||
                std::ranges::any_of(asked.by_index[i], is_used);
    }
    mark_needed(loop, live);
    if (std::ranges::find(live, false) == live.end()) return swept;
    forget_but_rounds(module_, loop.instruction, stated_trip_count(module_, loop.instruction));
    change_state(editor_, loop, live, {});
    return true;
  }

  // Elements that live ones, or effects of the body, are made from.
  void mark_needed(const Loop& loop, std::vector<bool>& live) const {
    std::vector<InstructionId> stack;
    std::unordered_set<uint32_t> seen;
    const auto reach = [&](InstructionId id) {
      if (seen.insert(id.value).second) stack.push_back(id);
    };
    for (size_t i = 0; i < live.size(); ++i)
      if (live[i]) reach(next_element(module_, loop, i));
    for (InstructionId id : module_[loop.body].instructions)
      if (!module_[id].removed && (editor_.effects().has(id) || editor_.is_pinned(id))) reach(id);
    while (!stack.empty()) {
      const InstructionId top = stack.back();
      stack.pop_back();
      for (InstructionId operand : module_.operands(top)) {
        if (operand != loop.body_state) reach(operand);
        else if (module_[top].op == Op::GetTupleElement) {
          const int64_t i = module_.attributes<GetTupleElementAttributes>(top).index;
          if (!live[i]) reach(next_element(module_, loop, i));
          live[i] = true;
        }
      }
    }
  }

  Module& module_;
  const PassOptions& options_;
  Editor editor_;
};

}  // namespace

Result<bool> simplify_loops(Module& module, const PassOptions& options) {
  return LoopSimplifier(module, options).run();
}

}  // namespace hilo

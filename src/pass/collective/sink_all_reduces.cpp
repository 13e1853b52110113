// Reduces over devices once, behind a loop, what each round would reduce and add up.
//   while(s) { s.i' = s.i + all-reduce(x) }
//     => while(s, i from 0) { s.i' = s.i + x }; initial i + all-reduce(s.i)
// Where the sum is for nothing else in the loop. Sums of floats change their order. Assumes
// nothing. Later passes may assume nothing. (n - 1) / n of the bytes of n rounds stay.
#include <algorithm>

#include "pass/collective/device_groups.h"
#include "pass/control/loop.h"

namespace hilo {
namespace {

class Sinker {
 public:
  Sinker(Module& module, const PassOptions& options)
      : module_(module), editor_(module), keeps_(options.rewrite.keeps) {}

  bool run() {
    bool changed = false;
    for (const Loop& loop : find_loops(editor_))
      for (size_t i = 0; i < loop.size && !module_[loop.instruction].removed; ++i)
        changed |= sink(loop, i);
    return changed;
  }

 private:
  bool sink(const Loop& loop, size_t i) {
    const InstructionId sum = next_element(module_, loop, i),
                        initial = initial_element(module_, loop, i);
    if (!initial || module_[sum].op != Op::Add || !module_.shape(sum).is_array() ||
        editor_.is_pinned(loop.instruction) || !has_one_use(editor_, sum))
      return false;
    if (const auto rounds = trip_count(module_, loop.instruction); rounds && *rounds < 2)
      return false;
    for (const size_t side : {0, 1}) {
      const InstructionId carried = module_.operand(sum, side);
      const InstructionId reduced = module_.operand(sum, 1 - side);
      if (is_only_carried(loop, carried, sum, i) && is_sum(reduced)) {
        move(loop, i, reduced, initial);
        return true;
      }
    }
    return false;
  }

  // Element i of the state, which nobody but the sum uses; nor does anybody use all of the state.
  bool is_only_carried(const Loop& loop, InstructionId carried, InstructionId sum, size_t i) const {
    if (module_[carried].op != Op::GetTupleElement ||
        module_.operand(carried, 0) != loop.body_state ||
        module_.attributes<GetTupleElementAttributes>(carried).index != static_cast<int64_t>(i) ||
        !is_only_user(module_, carried, sum))
      return false;
    const Elements body = elements_of(module_, loop.body_state);
    const Elements condition = elements_of(module_, loop.condition_state);
    return body.by_index[i].size() == 1 && condition.by_index[i].empty() &&
           !elements_of(module_, loop.instruction).whole;
  }

  bool is_sum(InstructionId id) const {
    if (module_[id].op != Op::AllReduce || module_[id].operand_count != 1 ||
        !has_one_use(editor_, id) || module_.extra(module_[id]).sharding)
      return false;
    const auto combiner =
        find_combiner(module_, module_.attributes<AllReduceAttributes>(id).to_apply);
    return combiner && module_[combiner->instruction].op == Op::Add &&
           may_reorder(Op::Add, module_.shape(id).type, keeps_);
  }

  void move(const Loop& loop, size_t i, InstructionId reduced, InstructionId initial) {
    const InstructionId inside = module_.operand(reduced, 0);
    const ComputationId around = module_[loop.instruction].computation;
    const Shape shape = module_.shape(loop.instruction).elements[i];
    const InstructionId total =
        editor_.add_element(loop.instruction, loop.instruction, static_cast<int64_t>(i));
    const InstructionId all = editor_.clone(reduced, around, std::array{total});
    editor_.set_shape(all, shape);
    const InstructionId sum =
        editor_.add(loop.instruction, Op::Add, shape, std::array{initial, all});
    begin_at_zero(loop, i, shape);
    const Elements elements = elements_of(module_, loop.instruction);
    for (InstructionId element : elements.by_index[i])
      if (element != total) editor_.replace(element, sum);
    editor_.replace_moved(reduced, inside);
  }

  void begin_at_zero(const Loop& loop, size_t i, const Shape& shape) {
    const InstructionId before = module_.operand(loop.instruction, 0);
    const auto given = module_.operands(before);
    std::vector<InstructionId> elements(given.begin(), given.end());
    elements[i] = editor_.add_splat(loop.instruction, shape, 0);
    editor_.set_operand(loop.instruction, 0, editor_.add_tuple(loop.instruction, elements));
  }

  Module& module_;
  Editor editor_;
  Keeps keeps_;
};

}  // namespace

Result<bool> sink_all_reduces(Module& module, const PassOptions& options) {
  return Sinker(module, options).run();
}

}  // namespace hilo

// Does the last round of a loop apart, where some collective's result is for a round that does not
// come: the last permute of a ring.
//   while(s) { …, s.k' = collective-permute(y) }, n rounds, s.k not used behind
//     => while(s) { … } of n - 1 rounds; the body once more, where nobody uses the permute
// For loops whose counter is compared with a constant. simplify_collectives then drops what is not
// used. Assumes nothing. Later passes may assume nothing.
#include <algorithm>
#include <unordered_set>

#include "pass/collective/device_groups.h"
#include "pass/control/loop.h"

namespace hilo {
namespace {

class Peeler {
 public:
  Peeler(Module& module, const PassOptions& options)
      : module_(module),
        editor_(module),
        growth_left_(std::max(
            options.grow_instructions,
            (options.grow_times - 1) * static_cast<int64_t>(module.instructions.size()))) {}

  bool run() {
    bool changed = false;
    for (const Loop& loop : find_loops(editor_))
      if (!module_[loop.instruction].removed) changed |= peel(loop);
    return changed;
  }

 private:
  struct Limit {
    InstructionId compare;
    size_t side = 1;  // the operand that is the constant
    int64_t value = 0, step = 0;
  };

  bool peel(const Loop& loop) {
    const auto rounds = trip_count(module_, loop.instruction);
    const auto size = static_cast<int64_t>(module_[loop.body].instructions.size());
    if (!rounds || *rounds < 2 || size > growth_left_ || !may_repeat(loop)) return false;
    const auto limit = find_limit(loop);
    if (!limit || !has_idle_collective(loop)) return false;
    growth_left_ -= size;
    const InstructionId constant = editor_.add_constant(
        limit->compare, limited(*limit, module_.operand(limit->compare, limit->side)));
    editor_.set_operand(limit->compare, limit->side, constant);
    forget_but_rounds(module_, loop.instruction, *rounds - 1);
    const std::vector<InstructionId> users = module_.users(loop.instruction);
    const ComputationId around = module_[loop.instruction].computation;
    const auto first_new = static_cast<uint32_t>(module_.instructions.size());
    const InstructionId state = editor_.clone_body(loop.body, around, std::array{loop.instruction});
    give_channels(first_new);
    // The state is a tuple whose elements are needed one by one.
    for (InstructionId user : users)
      editor_.replace_moved(user, module_.operand(state, element_of(user)));
    editor_.remove_unused(state);
    return true;
  }

  // Nothing in the body calls, and nothing but its collectives has effects.
  bool may_repeat(const Loop& loop) const {
    if (editor_.is_pinned(loop.instruction) || module_.extra(module_[loop.instruction]).sharding)
      return false;
    return std::ranges::all_of(module_[loop.body].instructions, [&](InstructionId id) {
      const Op op = module_[id].op;
      if (module_[id].removed) return true;
      if (op == Op::While || op == Op::Conditional || op == Op::Call || editor_.is_pinned(id))
        return false;
      return has_trait(op, TraitCollective) || !editor_.effects().has(id);
    });
  }

  size_t element_of(InstructionId user) const {
    return static_cast<size_t>(module_.attributes<GetTupleElementAttributes>(user).index);
  }

  // compare(counter, constant), where a round adds a constant to the counter.
  std::optional<Limit> find_limit(const Loop& loop) const {
    const InstructionId compare = module_[loop.condition].root;
    if (module_[compare].op != Op::Compare || module_.has_users(compare)) return std::nullopt;
    for (const size_t side : {0, 1}) {
      const InstructionId counter = module_.operand(compare, 1 - side);
      const Literal* value = constant_of(module_, module_.operand(compare, side));
      if (!value || !value->shape().is_scalar() || is_floating(value->type()) ||
          module_[counter].op != Op::GetTupleElement)
        continue;
      const auto index =
          static_cast<size_t>(module_.attributes<GetTupleElementAttributes>(counter).index);
      if (const auto step = step_of(loop, index))
        return Limit{compare, side, value->integer_at(0), *step};
    }
    return std::nullopt;
  }

  std::optional<int64_t> step_of(const Loop& loop, size_t index) const {
    const InstructionId next = next_element(module_, loop, index);
    if (module_[next].op != Op::Add) return std::nullopt;
    for (const size_t side : {0, 1}) {
      const InstructionId counter = module_.operand(next, 1 - side);
      const Literal* step = constant_of(module_, module_.operand(next, side));
      if (step && step->shape().is_scalar() && module_[counter].op == Op::GetTupleElement &&
          module_.operand(counter, 0) == loop.body_state &&
          module_.attributes<GetTupleElementAttributes>(counter).index ==
              static_cast<int64_t>(index))
        return step->integer_at(0);
    }
    return std::nullopt;
  }

  // A round less. No overflow: the loop has two rounds, so that the counter passes this number.
  Literal limited(const Limit& limit, InstructionId constant) const {
    return scalar_of(module_.shape(constant).type,
                     static_cast<double>(limit.value) - static_cast<double>(limit.step));
  }

  // Whether some collective of the body is for nothing that is used behind the loop.
  bool has_idle_collective(const Loop& loop) const {
    const Elements elements = elements_of(module_, loop.instruction);
    if (elements.whole || !is_replaceable(elements)) return false;
    std::unordered_set<uint32_t> used;
    std::vector<InstructionId> stack;
    for (size_t i = 0; i < loop.size; ++i)
      if (!elements.by_index[i].empty()) stack.push_back(next_element(module_, loop, i));
    while (!stack.empty()) {
      const InstructionId top = stack.back();
      stack.pop_back();
      if (!used.insert(top.value).second) continue;
      for (InstructionId operand : module_.operands(top)) stack.push_back(operand);
    }
    return std::ranges::any_of(module_[loop.body].instructions, [&](InstructionId id) {
      return !module_[id].removed && has_trait(module_[id].op, TraitCollective) &&
             !used.contains(id.value);
    });
  }

  bool is_replaceable(const Elements& elements) const {
    for (const auto& all : elements.by_index)
      for (InstructionId element : all)
        if (editor_.is_pinned(element) || module_.extra(module_[element]).sharding) return false;
    return true;
  }

  void give_channels(uint32_t first_new) {
    int64_t channel = next_channel(module_);
    for (uint32_t i = first_new; i < module_.instructions.size(); ++i)
      visit_attributes_type(module_.instructions[i].op, [&]<class A>(std::type_identity<A>) {
        if constexpr (requires(A a) { a.channel_id; })
          if (auto& mine = module_.mutable_attributes<A>(InstructionId{i}).channel_id)
            mine = channel++;
      });
  }

  Module& module_;
  Editor editor_;
  int64_t growth_left_;
};

}  // namespace

Result<bool> peel_last_rounds(Module& module, const PassOptions& options) {
  return Peeler(module, options).run();
}

}  // namespace hilo

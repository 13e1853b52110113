#include "pass/lifetimes.h"

#include <algorithm>

namespace hilo {
namespace {

bool is_given_away(const Module& module, const Position& definition) {
  const int64_t number = module.attributes<ParameterAttributes>(definition.instruction).number;
  const auto names = [&](const auto& entry) {
    return entry.parameter == number && entry.parameter_index == definition.index;
  };
  return std::ranges::any_of(module.header.input_output_alias, names) ||
         std::ranges::any_of(module.header.buffer_donor, names);
}

}  // namespace

Lifetimes::Lifetimes(const Module& module, const Aliases& aliases, const Schedule& schedule)
    : module_(module),
      aliases_(aliases),
      liveness_(find_liveness(module, aliases, schedule)),
      spans_(module.computations.size(), LiveRange{INT64_MAX, -1}),
      conditions_(module.computations.size(), false) {
  for (ComputationId computation : module.post_order()) {
    LiveRange& span = spans_[computation.value];
    for (InstructionId id : module[computation].instructions) {
      const int64_t moment = liveness_.moments[id.value];
      if (moment < 0) continue;
      span = {std::min(span.start, moment), std::max(span.end, moment)};
      for (ComputationId callee : module.called(module[id]))
        span.start = std::min(span.start, spans_[callee.value].start);
      if (module[id].op == Op::While)
        conditions_[module.attributes<WhileAttributes>(id).condition.value] = true;
    }
  }
  for (const Value& value : aliases.values) lives_.push_back(life_of(value));
}

bool Lifetimes::is_read_only(ValueId id) const {
  const Position& definition = aliases_[id].definition();
  const Instruction& instruction = module_[definition.instruction];
  return instruction.op == Op::Constant ||
         (instruction.op == Op::Parameter && instruction.computation == module_.entry &&
          !is_given_away(module_, definition));
}

// What a while or a branch takes over is read before anything in it runs. (What a call takes is
// read inside.)
int64_t Lifetimes::moment_of_use(const ValueUse& use) const {
  const InstructionId user = use.instruction;
  const int64_t moment = 2 * liveness_.moments[user.value];
  if (module_[user].op == Op::While) {
    const WhileAttributes& attributes = module_.attributes<WhileAttributes>(user);
    return 2 * std::min(first_moment(attributes.condition), first_moment(attributes.body)) - 1;
  }
  if (module_[user].op == Op::Conditional && use.operand > 0) {
    int64_t first = moment;
    for (ComputationId branch : module_.called(module_[user]))
      first = std::min(first, 2 * first_moment(branch) - 1);
    return first;
  }
  return moment;
}

// What a while carries goes on after its condition, into the body or out of the loop.
Lifetimes::Life Lifetimes::life_of(const Value& value) const {
  const InstructionId id = value.definition().instruction;
  const Instruction& instruction = module_[id];
  const int64_t moment = liveness_.moments[id.value];
  if (moment < 0) return {0, -1};
  Life life{2 * moment, 2 * moment};
  if (instruction.op == Op::Parameter) life.start = 2 * first_moment(instruction.computation);
  if (instruction.op == Op::Parameter && instruction.computation == module_.entry) life.start = -1;
  for (const ValueUse& use : value.uses)
    if (liveness_.moments[use.instruction.value] >= 0 && module_[use.instruction].op != Op::Call)
      life.end = std::max(life.end, moment_of_use(use));
  for (const Position& position : value.positions) {
    const ComputationId computation = module_[position.instruction].computation;
    if (module_[computation].root == position.instruction)
      life.end = std::max(life.end, 2 * spans_[computation.value].end + 1);
    if (conditions_[computation.value] && module_[position.instruction].op == Op::Parameter)
      life.end = std::max(life.end, 2 * spans_[computation.value].end + 1);
  }
  if (value.live_out) life.end = never;
  return life;
}

bool Lifetimes::must_share(const ValueUse& use, const Position& result) const {
  return std::ranges::any_of(aliases_.in_place_of(use.instruction), [&](const InPlace& pair) {
    return pair.operand == use.operand && pair.operand_index == use.index &&
           pair.output_index == result.index;
  });
}

bool Lifetimes::is_before(ValueId a, ValueId b) const {
  if (is_read_only(a) || is_read_only(b) || start(a) >= start(b) || end(a) > start(b)) return false;
  if (end(a) < start(b)) return true;
  const Position& result = aliases_[b].definition();
  for (const ValueUse& use : aliases_[a].uses) {
    if (moment_of_use(use) != start(b) || module_[use.instruction].op == Op::Call) continue;
    if (use.instruction != result.instruction) return false;
    if (must_share(use, result)) continue;
    const InstructionId operand =
        module_.operand(use.instruction, static_cast<size_t>(use.operand));
    if (!may_share(module_, aliases_, operand, use.index, result.instruction, result.index))
      return false;
  }
  return true;
}

}  // namespace hilo

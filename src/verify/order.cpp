// Order: operands and control predecessors before their users when the module is scheduled, and no
// cycles in any case; no computations that call each other in circles.
#include "verify/report.h"

namespace hilo {
namespace {

template <class Body>
void for_each_before(const Module& module, InstructionId id, Body&& body) {
  for (InstructionId operand : module.operands(id)) body(operand);
  for (InstructionId before : module.extra(module[id]).control_predecessors) body(before);
}

// Instructions that wait for themselves: those that never become ready when each is done after all
// that it waits for.
InstructionId find_cycle(const Module& module, const Computation& computation) {
  std::unordered_map<uint32_t, std::vector<InstructionId>> after;
  std::unordered_map<uint32_t, size_t> waits;
  std::vector<InstructionId> ready;
  for (InstructionId id : computation.instructions) {
    size_t& count = waits[id.value];
    for_each_before(module, id, [&](InstructionId before) {
      ++count;
      after[before.value].push_back(id);
    });
    if (count == 0) ready.push_back(id);
  }
  while (!ready.empty()) {
    const InstructionId id = ready.back();
    ready.pop_back();
    for (InstructionId user : after[id.value])
      if (--waits[user.value] == 0) ready.push_back(user);
  }
  for (InstructionId id : computation.instructions)
    if (waits[id.value] > 0) return id;
  return {};
}

}  // namespace

void verify_order(const Module& module, Report& report) {
  std::vector<bool> done(module.instructions.size());
  for (const Computation& computation : module.computations) {
    InstructionId early, late;
    for (InstructionId id : computation.instructions) {
      for_each_before(module, id, [&](InstructionId before) {
        if (!done[before.value] && !early) early = before, late = id;
      });
      done[id.value] = true;
    }
    if (!early) continue;
    if (const InstructionId id = find_cycle(module, computation); id)
      report.add(ErrorKind::Structure, id,
                 "the instruction waits for itself: a cycle of operands or control predecessors");
    else if (module.header.is_scheduled)
      report.add(ErrorKind::Structure, late,
                 fmt::format("{} stands after its user in the schedule", module[early].name));
  }
}

void verify_call_cycles(const Module& module, Report& report) {
  enum class State : uint8_t { New, Open, Done };
  struct Level {
    ComputationId computation;
    std::vector<ComputationId> callees;
  };
  std::vector<State> states(module.computations.size());
  std::vector<Level> stack;
  const auto enter = [&](ComputationId id) {
    if (states[id.value] == State::Open)
      report.add(ErrorKind::Structure, id, "the computation calls itself, perhaps through others");
    if (states[id.value] != State::New) return;
    states[id.value] = State::Open;
    Level level{id, {}};
    for (InstructionId instruction : module[id].instructions)
      for (ComputationId callee : module.called(module[instruction]))
        if (callee.value < states.size()) level.callees.push_back(callee);
    stack.push_back(std::move(level));
  };
  for (size_t i = 0; i < states.size() && !report.is_full(); ++i) {
    if (states[i] == State::New) enter({static_cast<uint32_t>(i)});
    while (!stack.empty()) {
      if (stack.back().callees.empty()) {
        states[stack.back().computation.value] = State::Done;
        stack.pop_back();
        continue;
      }
      const ComputationId callee = stack.back().callees.back();
      stack.back().callees.pop_back();
      enter(callee);
    }
  }
}

}  // namespace hilo

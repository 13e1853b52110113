#include <algorithm>

#include "plan/check.h"

namespace hilo {
namespace {

constexpr int64_t most_moments = 8'000'000;

void widen(LiveRange& range, int64_t moment) {
  range.start = std::min(range.start, moment);
  range.end = std::max(range.end, moment);
}

class Walker {
 public:
  Walker(const Module& module, const Schedule& schedule) : module_(module), schedule_(schedule) {
    walk_.visits.assign(module.instructions.size(), {INT64_MAX, -1});
    walk_.computations.assign(module.computations.size(), {INT64_MAX, -1});
  }

  Result<Walk> run() {
    struct Level {
      ComputationId computation;
      size_t next = 0;
      std::vector<ComputationId> callees;  // still to be run before the next instruction
    };
    std::vector<Level> stack = {{module_.entry, 0, {}}};
    bool entered = true;
    while (!stack.empty()) {
      Level& top = stack.back();
      const std::vector<InstructionId>& order = schedule_.orders[top.computation.value];
      if (top.next == order.size()) {
        stack.pop_back();
        entered = false;
        continue;
      }
      const InstructionId id = order[top.next];
      if (entered) {
        top.callees = callees(id);
        std::ranges::reverse(top.callees);
      }
      if (!top.callees.empty()) {
        const ComputationId callee = top.callees.back();
        top.callees.pop_back();
        stack.push_back({callee, 0, {}});
        entered = true;
        continue;
      }
      if (walk_.moments == most_moments)
        return fail(ErrorKind::Limit, "the schedule runs more than {} instructions", most_moments);
      widen(walk_.computations[top.computation.value], walk_.moments);
      widen(walk_.visits[id.value], walk_.moments++);
      ++top.next;
      entered = true;
    }
    return std::move(walk_);
  }

 private:
  std::vector<ComputationId> callees(InstructionId id) const {
    const Op op = module_[id].op;
    if (op == Op::While) {
      const WhileAttributes& attributes = module_.attributes<WhileAttributes>(id);
      return {attributes.condition, attributes.body};
    }
    if (op == Op::Conditional || op == Op::Call || op == Op::AsyncStart)
      return module_.called(module_[id]);
    return {};
  }

  const Module& module_;
  const Schedule& schedule_;
  Walk walk_;
};

// The moment before the first instruction of what the while runs.
int64_t loop_start(const Module& module, const Walk& walk, InstructionId loop) {
  const WhileAttributes& attributes = module.attributes<WhileAttributes>(loop);
  return std::min(walk.computations[attributes.condition.value].start,
                  walk.computations[attributes.body.value].start);
}

bool was_run(const LiveRange& visits) { return visits.start <= visits.end; }

}  // namespace

Result<Walk> walk(const Module& module, const Schedule& schedule) {
  return Walker(module, schedule).run();
}

std::vector<LiveRange> find_wanted(const Module& module, const Aliases& aliases, const Walk& walk) {
  std::vector<LiveRange> wanted(aliases.values.size(), {INT64_MAX, -1});
  for (uint32_t i = 0; i < aliases.values.size(); ++i) {
    const Value& value = aliases.values[i];
    const LiveRange made = walk.visits[value.definition().instruction.value];
    if (!was_run(made)) continue;
    LiveRange& range = wanted[i] = made;
    for (const ValueUse& use : value.uses) {
      const LiveRange& used = walk.visits[use.instruction.value];
      // A call's operands are read inside it.
      if (!was_run(used) || module[use.instruction].op == Op::Call) continue;
      widen(range, module[use.instruction].op == Op::While
                       ? loop_start(module, walk, use.instruction)
                       : used.end);
    }
    for (const Position& position : value.positions) {
      const ComputationId computation = module[position.instruction].computation;
      if (module[computation].root == position.instruction)
        widen(range, walk.computations[computation.value].end);
      if (module[position.instruction].op == Op::Parameter) {
        widen(range, computation == module.entry ? 0 : walk.computations[computation.value].start);
      }
    }
    if (value.live_out) widen(range, walk.moments);
  }
  return wanted;
}

}  // namespace hilo

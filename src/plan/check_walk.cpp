#include <algorithm>

#include "plan/check.h"

namespace hilo {
namespace {

constexpr int64_t max_moments = 8'000'000;

void widen(LiveRange& range, int64_t moment) {
  range.start = std::min(range.start, moment);
  range.end = std::max(range.end, moment);
}

bool was_run(const LiveRange& visits) { return visits.start <= visits.end; }

bool is_async(Op op) {
  return op == Op::AsyncStart || op == Op::AsyncUpdate || op == Op::AsyncDone;
}

class Walker {
 public:
  Walker(const Module& module, const Schedule& schedule) : module_(module), schedule_(schedule) {
    walk_.visits.assign(module.instructions.size(), {INT64_MAX, -1});
    walk_.computations.assign(module.computations.size(), {INT64_MAX, -1});
    walk_.beside.assign(module.computations.size(), {});
  }

  Result<Walk> run() {
    bind_operands();
    HILO_DO(visit_all());
    const std::vector<ComputationId> callees_first = module_.post_order();
    for (ComputationId computation : callees_first) take_in_callees(computation);
    for (auto at = callees_first.rbegin(); at != callees_first.rend(); ++at) mark_beside(*at);
    return std::move(walk_);
  }

 private:
  Result<void> visit_all() {
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
      if (walk_.moments == max_moments)
        return fail(ErrorKind::Limit, "the schedule runs more than {} instructions", max_moments);
      widen(walk_.computations[top.computation.value], walk_.moments);
      widen(walk_.visits[id.value], walk_.moments++);
      ++top.next;
      entered = true;
    }
    return {};
  }

  std::vector<ComputationId> callees(InstructionId id) const {
    const Op op = module_[id].op;
    if (op == Op::While) {
      const WhileAttributes& attributes = module_.attributes<WhileAttributes>(id);
      return {attributes.condition, attributes.body};
    }
    if (op == Op::Conditional || op == Op::Call) return module_.called(module_[id]);
    if (bound_[id.value].begins) return {bound_[id.value].callee};
    return {};
  }

  // What runs asynchronously may begin when all its parameters are known; updates bring those that
  // the start lacks.
  void bind_operands() {
    bound_.assign(module_.instructions.size(), {});
    for (const std::vector<InstructionId>& order : schedule_.orders)
      for (InstructionId id : order) {
        const Op op = module_[id].op;
        if (!is_async(op)) continue;
        Bound& bound = bound_[id.value];
        if (op != Op::AsyncStart) bound = bound_[module_.operand(id, 0).value];
        else bound.callee = module_.attributes<AsyncAttributes>(id).calls;
        const size_t brought = module_.operands(id).size() - (op == Op::AsyncStart ? 0 : 1);
        bound.operands += brought;
        const bool all = bound.callee && bound.operands == module_[bound.callee].parameters.size();
        bound.begins = all && (op == Op::AsyncStart || brought > 0);
      }
  }

  void take_in_callees(ComputationId computation) {
    LiveRange& range = walk_.computations[computation.value];
    for (InstructionId id : module_[computation].instructions)
      for (ComputationId callee : callees(id)) {
        const LiveRange& inner = walk_.computations[callee.value];
        if (was_run(inner)) range.start = std::min(range.start, inner.start);
      }
  }

  // What an asynchronous step calls, and what that calls in its turn.
  void mark_beside(ComputationId computation) {
    const Walk::Beside outer = walk_.beside[computation.value];
    for (InstructionId id : module_[computation].instructions)
      for (ComputationId callee : callees(id)) {
        Walk::Beside& inner = walk_.beside[callee.value];
        if (is_async(module_[id].op)) inner = {id, end_of_chain(id)};
        else inner = outer;
      }
  }

  int64_t end_of_chain(InstructionId step) const {
    for (InstructionId next = step; next;) {
      step = next;
      next = {};
      if (module_[step].op == Op::AsyncDone) return walk_.visits[step.value].end;
      for (InstructionId user : module_.users(step))
        if (is_async(module_[user].op) && module_.operand(user, 0) == step) next = user;
    }
    return walk_.computations[module_[step].computation.value].end;
  }

  struct Bound {
    ComputationId callee;
    size_t operands = 0;  // with those of the steps before
    bool begins = false;
  };
  const Module& module_;
  const Schedule& schedule_;
  Walk walk_;
  std::vector<Bound> bound_;  // by instruction
};

class WantedFinder {
 public:
  WantedFinder(const Module& module, const Aliases& aliases, const Walk& walk)
      : module_(module), aliases_(aliases), walk_(walk), conditions_(module.computations.size()) {
    for (ComputationId computation : module.post_order())
      for (InstructionId id : module[computation].instructions)
        if (module[id].op == Op::While)
          conditions_[module.attributes<WhileAttributes>(id).condition.value] = true;
  }

  LiveRange find(const Value& value) const {
    LiveRange range = walk_.visits[value.definition().instruction.value];
    if (!was_run(range)) return {INT64_MAX, -1};
    const InstructionId made = value.definition().instruction;
    if (module_[made].op == Op::Parameter)
      widen(range, walk_.computations[module_[made].computation.value].start);
    for (const ValueUse& use : value.uses) add_use(use, range);
    for (const Position& position : value.positions) add_position(position, range);
    if (value.live_out) widen(range, walk_.moments);
    return range;
  }

 private:
  // What a call or a branch is given is read inside, where it stands in a parameter.
  void add_use(const ValueUse& use, LiveRange& range) const {
    const LiveRange& used = walk_.visits[use.instruction.value];
    const Op op = module_[use.instruction].op;
    if (!was_run(used) || op == Op::Call || (op == Op::Conditional && use.operand > 0)) return;
    widen(range, op == Op::While ? before_loop(use.instruction) : used.end);
  }

  // The loop's own parameters go on from there.
  int64_t before_loop(InstructionId loop) const {
    const WhileAttributes& attributes = module_.attributes<WhileAttributes>(loop);
    return std::max<int64_t>(0, std::min(walk_.computations[attributes.condition.value].start,
                                         walk_.computations[attributes.body.value].start) -
                                    1);
  }

  void add_position(const Position& position, LiveRange& range) const {
    const ComputationId computation = module_[position.instruction].computation;
    const LiveRange& run = walk_.computations[computation.value];
    if (!was_run(run)) return;
    if (module_[computation].root == position.instruction) widen(range, run.end);
    if (module_[position.instruction].op != Op::Parameter) return;
    if (computation == module_.entry) widen(range, 0);
    if (conditions_[computation.value]) widen(range, run.end);
  }

  const Module& module_;
  const Aliases& aliases_;
  const Walk& walk_;
  std::vector<bool> conditions_;  // by computation
};

}  // namespace

int64_t Walk::last(const Module& module, ComputationId computation, int64_t end) const {
  for (Beside at = beside[computation.value]; at.step;
       at = beside[module[at.step].computation.value])
    end = std::max(end, at.end);
  return end;
}

Result<Walk> walk(const Module& module, const Schedule& schedule) {
  return Walker(module, schedule).run();
}

std::vector<LiveRange> find_wanted(const Module& module, const Aliases& aliases, const Walk& walk) {
  const WantedFinder finder(module, aliases, walk);
  std::vector<LiveRange> wanted;
  wanted.reserve(aliases.values.size());
  for (const Value& value : aliases.values) wanted.push_back(finder.find(value));
  return wanted;
}

}  // namespace hilo

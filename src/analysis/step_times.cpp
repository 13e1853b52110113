#include <algorithm>
#include <functional>

#include "analysis/analysis.h"

namespace hilo {
namespace {

bool calls_others(Op op) { return op == Op::While || op == Op::Conditional || op == Op::Call; }

// What stands for a collective in the modules that TPU compilers write: a fusion starts it, others
// do steps of it beside what they compute, one ends it. All hold the collective, of one channel.
struct FusedCollective {
  InstructionId collective;
  bool starts = false, ends = false;
};
std::optional<FusedCollective> fused_collective(const Module& module, InstructionId fusion) {
  FusedCollective out;
  if (module[fusion].op != Op::Fusion) return std::nullopt;
  for (InstructionId id : module[module.attributes<FusionAttributes>(fusion).calls].instructions) {
    if (module[id].removed) continue;
    if (module[id].op == Op::CustomCall) {
      const auto& target = module.attributes<CustomCallAttributes>(id).custom_call_target;
      out.starts |= target == "AsyncCollectiveStart";
      out.ends |= target == "AsyncCollectiveDone";
    } else if (has_trait(module[id].op, TraitCollective)) {
      out.collective = id;
    }
  }
  return out.collective ? std::optional(out) : std::nullopt;
}

// The collective that an instruction is, starts, or wraps.
InstructionId collective_of(const Module& module, InstructionId id) {
  if (module[id].op != Op::AsyncStart) return id;
  for (InstructionId one : module[module.attributes<AsyncAttributes>(id).calls].instructions)
    if (!module[one].removed && collective_bytes(module, one)) return one;
  return id;
}

std::vector<double> runs_of(std::span<const Cost> costs) {
  std::vector<double> out;
  for (const Cost& cost : costs) out.push_back(cost.runs);
  return out;
}

}  // namespace

StepTimes::StepTimes(const Module& module, const Machine& machine, const Schedule* schedule)
    : StepTimes(module, machine, schedule, count_cost(module)) {}

StepTimes::StepTimes(const Module& module, const Machine& machine, const Schedule* schedule,
                     const std::vector<Cost>& costs)
    : module_(module),
      schedule_(schedule),
      runs_(runs_of(costs)),
      network_(module, machine, runs_),
      computations_(module.instructions.size()),
      uses_(module.instructions.size()),
      is_start_(module.instructions.size()),
      start_of_(module.instructions.size()) {
  const double flops = std::max(machine.flops_f32, machine.flops_bf16);
  const double bytes = memory_space(machine, 0).bytes_per_second;
  has_rates_ = flops > 0 && bytes > 0;
  if (!is_known()) return;
  for (uint32_t i = 0; i < module.instructions.size(); ++i) {
    const Op op = module.instructions[i].op;
    if (module.instructions[i].removed || calls_others(op)) continue;
    if (op != Op::Fusion && collective_bytes(module, {i})) {
      uses_[i] = network_.use_of(module, collective_of(module, {i}));
      is_start_[i] = has_trait(op, TraitEffect);
    } else if (!has_trait(op, TraitNoTraffic | TraitEffect | TraitCollective)) {
      computations_[i] = estimate(work_of(costs[i]), machine).seconds;
    }
  }
  find_pairs(module);
  find_fused_pairs(module);
}

void StepTimes::find_pairs(const Module& module) {
  for (const Computation& computation : module.computations)
    for (InstructionId id : computation.instructions) {
      const Instruction& end = module[id];
      if (end.removed || end.operand_count == 0 || !has_trait(end.op, TraitEffect) ||
          !has_trait(end.op, TraitNoTraffic))
        continue;
      const InstructionId before = module.operand(id, 0);
      start_of_[id.value] = is_start(before) ? before : start_of_[before.value];
    }
}

// A fusion with a collective of a channel that no fusion starts is a collective itself.
void StepTimes::find_fused_pairs(const Module& module) {
  std::unordered_map<int64_t, InstructionId> starts;
  const auto channel = [&](const FusedCollective& one) {
    return channel_of(module, one.collective).value_or(-1);
  };
  std::vector<std::pair<InstructionId, FusedCollective>> all;
  for (uint32_t i = 0; i < module.instructions.size(); ++i)
    if (!module.instructions[i].removed)
      if (const auto found = fused_collective(module, {i})) {
        all.emplace_back(InstructionId{i}, *found);
        if (found->starts) starts[channel(*found)] = {i};
      }
  for (const auto& [id, one] : all) {
    const auto start = starts.find(channel(one));
    if (one.ends && start != starts.end()) start_of_[id.value] = start->second;
    is_start_[id.value] = one.starts;
    if (one.starts || start == starts.end())
      uses_[id.value] = network_.use_of(module, one.collective);
    if (one.starts || one.ends || start == starts.end()) computations_[id.value] = 0;
  }
}

double StepTimes::computation(InstructionId id) const {
  return calls_others(module_[id].op) ? of_callees(id).step : computations_[id.value];
}

Timeline StepTimes::of_callees(InstructionId id) const {
  Timeline out;
  const Op op = module_[id].op;
  const auto rounds = op == Op::While ? stated_trip_count(module_, id) : std::nullopt;
  for (ComputationId callee : module_.called(module_[id])) {
    const bool decides =
        op == Op::While && callee == module_.attributes<WhileAttributes>(id).condition;
    const auto times = static_cast<double>(rounds.value_or(1) + decides);
    auto found = known_.find(callee.value);
    if (found == known_.end()) found = known_.emplace(callee.value, along(callee)).first;
    const Timeline& one = found->second;
    if (op == Op::Conditional && one.step <= out.step) continue;
    if (op == Op::Conditional) out = {};
    out.step += times * one.step;
    out.compute += times * one.compute;
    out.communication += times * one.communication;
  }
  return out;
}

std::span<const InstructionId> StepTimes::order_of(ComputationId id) const {
  if (schedule_ && !schedule_->orders[id.value].empty()) return schedule_->orders[id.value];
  return module_[id].instructions;
}

namespace {

// When the links of each axis are free.
class LinkClocks {
 public:
  double free(uint32_t axes) const {
    double out = 0;
    for (size_t axis = 0; axis < free_.size(); ++axis)
      if (axes >> axis & 1) out = std::max(out, free_[axis]);
    return out;
  }
  void take(uint32_t axes, double until) {
    for (size_t axis = 0; axis < free_.size(); ++axis)
      if (axes >> axis & 1) free_[axis] = std::max(free_[axis], until);
  }

 private:
  std::array<double, std::tuple_size_v<TorusShape>> free_ = {};
};

struct Computed {
  InstructionId id;
  double begin = 0, end = 0;
};

// What of `computed` falls between, most first.
std::vector<std::pair<InstructionId, double>> between(std::span<const Computed> computed,
                                                      double begin, double end) {
  std::vector<std::pair<InstructionId, double>> out;
  for (size_t i = computed.size(); i-- > 0 && computed[i].end > begin;)
    if (const double shared = std::min(end, computed[i].end) - std::max(begin, computed[i].begin);
        shared > 0)
      out.emplace_back(computed[i].id, shared);
  std::ranges::stable_sort(out, std::greater(), [](const auto& one) { return one.second; });
  return out;
}

}  // namespace

Timeline StepTimes::along(std::span<const InstructionId> order,
                          std::vector<CollectiveTime>* times) const {
  struct Going {
    double begin = 0, end = 0;
  };
  Timeline out;
  double now = 0;
  LinkClocks links;
  std::unordered_map<uint32_t, Going> going;
  std::vector<Computed> computed;
  const auto wait = [&](InstructionId id, const Going& until) {
    if (times)
      times->push_back({id, communication(id), std::max(0.0, until.end - now), use(id).axes,
                        between(computed, until.begin, until.end)});
    now = std::max(now, until.end);
  };
  for (InstructionId id : order) {
    if (module_[id].removed) continue;
    if (const InstructionId start = start_of(id)) {
      if (const auto found = going.find(start.value); found != going.end())
        wait(start, found->second);
    } else if (const double sent = communication(id); sent > 0) {
      const double begin = std::max(now, links.free(use(id).axes));
      const Going one{begin, begin + sent};
      links.take(use(id).axes, one.end);
      out.communication += sent;
      if (is_start(id)) going[id.value] = one;
      else wait(id, one);
    } else {
      const bool calls = calls_others(module_[id].op);
      const Timeline inside =
          calls ? of_callees(id) : Timeline{computations_[id.value], computations_[id.value], 0};
      if (times && inside.step > 0) computed.push_back({id, now, now + inside.step});
      now += inside.step;
      if (inside.communication > 0) links.take(~0U, now);
      out.compute += inside.compute;
      out.communication += inside.communication;
    }
  }
  out.step = now;
  return out;
}

std::vector<CollectiveTime> StepTimes::collectives() const {
  std::vector<CollectiveTime> out;
  if (!is_known()) return out;
  // What a start wraps counts where it is started.
  std::vector<bool> is_wrapped(module_.computations.size());
  for (const Instruction& one : module_.instructions)
    if (!one.removed && one.op == Op::AsyncStart)
      is_wrapped[module_.attributes<AsyncAttributes>(one).calls.value] = true;
  for (ComputationId id : module_.post_order())
    if (!is_wrapped[id.value] &&
        std::ranges::any_of(module_[id].instructions,
                            [&](InstructionId one) { return runs_[one.value] > 0; }))
      along(order_of(id), &out);
  return out;
}

}  // namespace hilo

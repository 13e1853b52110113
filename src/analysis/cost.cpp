// Costs of a module: each instruction's own, and how often it runs. A loop's body counts as often
// as it runs; XLA's HloCostAnalysis counts it once.
#include "analysis/cost.h"

#include <algorithm>

namespace hilo {
namespace {

// So that products of costs and runs stay finite, however deep loops are nested.
constexpr double max_runs = 1e18, max_cost = 1e200;

void add(Cost& sum, const Cost& cost, double times = 1) {
  const auto add_one = [&](double Cost::* number) {
    sum.*number = std::min(sum.*number + cost.*number * times, max_cost);
  };
  add_one(&Cost::flops), add_one(&Cost::transcendentals);
  add_one(&Cost::bytes_read), add_one(&Cost::bytes_written);
  sum.runs_known = sum.runs_known && cost.runs_known;
  sum.flops_known = sum.flops_known && cost.flops_known;
}

// A computation that a caller runs in its own place in the schedule, so many times a run.
struct Run {
  ComputationId computation;
  double times = 1;
  bool known = true;
};

// Which branch runs is not known: the dearest does, the first of equals.
std::vector<Run> branches_of(const Counting& counting, const Instruction& instruction) {
  const auto price = [&](ComputationId c) {
    const Cost& cost = counting.inside[c.value];
    return std::pair(cost.flops + cost.transcendentals, cost.bytes_read + cost.bytes_written);
  };
  std::vector<Run> runs;
  for (ComputationId c : counting.module.called(instruction)) runs.push_back({c, 0, false});
  const auto dearest =
      std::ranges::max_element(runs, {}, [&](const Run& r) { return price(r.computation); });
  if (dearest != runs.end()) dearest->times = 1;
  return runs;
}

// Empty: what the instruction calls is part of itself (fusions, reducers), or there is nothing.
std::vector<Run> runs_of(const Counting& counting, InstructionId id) {
  const Module& module = counting.module;
  const Instruction& instruction = module[id];
  if (instruction.op == Op::While) {
    const auto& a = module.attributes<WhileAttributes>(id);
    const std::optional<int64_t> trips = stated_trip_count(module, id);
    const double times = trips ? std::min<double>(*trips, max_runs) : 1;
    return {{a.body, times, trips.has_value()}, {a.condition, times + 1, trips.has_value()}};
  }
  if (instruction.op == Op::Conditional) return branches_of(counting, instruction);
  if (instruction.op == Op::Call) return {{module.attributes<CallAttributes>(id).to_apply}};
  if (instruction.op == Op::AsyncStart) {
    const ComputationId calls = module.attributes<AsyncAttributes>(id).calls;
    if (calls) return {{calls}};
  }
  return {};
}

Cost own_cost(Counting& counting, const Instruction& instruction) {
  if (instruction.op == Op::CustomCall)
    if (std::optional<Cost> known = custom_call_cost(counting, instruction)) return *known;
  Cost cost = arithmetic_of(counting, instruction);
  const Traffic traffic = traffic_of(counting, instruction);
  cost.bytes_read = traffic.read, cost.bytes_written = traffic.written;
  return cost;
}

// The whole cost of a computation, and its instructions' own.
void count_computation(Counting& counting, ComputationId id, std::vector<Cost>& costs) {
  Cost whole;
  for (InstructionId i : counting.module[id].instructions) {
    const std::vector<Run> runs = runs_of(counting, i);
    if (runs.empty()) costs[i.value] = own_cost(counting, counting.module[i]);
    add(whole, costs[i.value]);
    for (const Run& run : runs) {
      add(whole, counting.inside[run.computation.value], run.times);
      whole.runs_known = whole.runs_known && run.known;
    }
  }
  counting.inside[id.value] = whole;
}

struct Frequency {
  double runs = 0;
  bool known = true, reached = false;
};

// Callers first, so that all who run a computation are counted before what it runs.
std::vector<Frequency> frequencies(const Counting& counting,
                                   std::span<const ComputationId> callees_first) {
  std::vector<Frequency> out(counting.module.computations.size());
  out[counting.module.entry.value] = {1, true, true};
  for (size_t n = callees_first.size(); n-- > 0;) {
    const Frequency here = out[callees_first[n].value];
    if (!here.reached) continue;
    for (InstructionId i : counting.module[callees_first[n]].instructions)
      for (const Run& run : runs_of(counting, i)) {
        Frequency& there = out[run.computation.value];
        there.runs = std::min(there.runs + here.runs * run.times, max_runs);
        there.known = there.known && here.known && run.known;
        there.reached = true;
      }
  }
  return out;
}

}  // namespace

std::vector<Cost> count_cost(const Module& module) {
  Counting counting(module);
  std::vector<Cost> costs(module.instructions.size());
  const std::vector<ComputationId> order = module.post_order();
  for (ComputationId c : order) count_computation(counting, c, costs);
  const std::vector<Frequency> often = frequencies(counting, order);
  for (size_t i = 0; i < costs.size(); ++i) {
    const ComputationId computation = module.instructions[i].computation;
    const Frequency f = computation ? often[computation.value] : Frequency();
    if (!f.reached) costs[i] = {};
    costs[i].runs = f.runs;
    costs[i].runs_known = f.known;
  }
  return costs;
}

}  // namespace hilo

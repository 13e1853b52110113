// Small changes to an order that is good already, each judged by what a plan in it takes.
#include <algorithm>
#include <map>

#include "plan/schedule.h"

namespace hilo {
namespace {

// How far from the peak instructions are moved, in places of their computation.
constexpr ptrdiff_t max_distance = 64;

class Polisher {
 public:
  Polisher(PeakMeter& meter, std::span<const ScheduleGraph> graphs, Schedule& schedule)
      : meter_(meter), graphs_(graphs), schedule_(schedule), peak_(meter.measure(schedule)) {
    for (uint32_t i = 0; i < graphs.size(); ++i)
      for (const auto& [node, callee] : graphs[i].calls)
        callers_[callee] = {{i}, graphs[i].instructions[node]};
  }

  void run(const Module& module, int64_t measures) {
    left_ = measures;
    while (left_ > 0 && peak_.bytes > 0 && improve(module)) {
    }
  }

 private:
  struct Caller {
    ComputationId computation;
    InstructionId instruction;
  };

  // Around the peak, or around the calls that lead to it.
  bool improve(const Module& module) {
    Caller at = {module[peak_.instruction].computation, peak_.instruction};
    for (size_t depth = 0; depth <= callers_.size(); ++depth) {
      if (improve_around(at)) return true;
      const auto caller = callers_.find(at.computation);
      if (caller == callers_.end()) break;
      at = caller->second;
    }
    return false;
  }

  bool improve_around(const Caller& at) {
    find_positions(at.computation);
    const ptrdiff_t peak = place_[at.instruction];
    const auto size = static_cast<ptrdiff_t>(order().size());
    for (ptrdiff_t distance = 0; distance <= max_distance; ++distance)
      for (const int side : {1, -1}) {
        const ptrdiff_t place = peak + side * distance;
        if (place < 0 || place >= size || (distance == 0 && side < 0)) continue;
        const auto [first, last] = bounds(place);
        std::vector<ptrdiff_t> targets = {place < peak ? last : first};
        if (distance == 0) targets.push_back(last);
        else if (place < peak ? last > peak : first < peak) targets.push_back(peak);
        for (const ptrdiff_t target : targets)
          if (target != place && try_move(place, target)) return true;
      }
    return false;
  }

  std::vector<InstructionId>& order() { return schedule_.orders[computation_.value]; }

  void find_positions(ComputationId computation) {
    computation_ = computation;
    place_.clear();
    for (ptrdiff_t i = 0; InstructionId id : order()) place_[id] = i++;
    nodes_.clear();
    const ScheduleGraph& graph = graphs_[computation.value];
    for (uint32_t node = 0; node < graph.size(); ++node) nodes_[graph.instructions[node]] = node;
  }

  // The places that an instruction may have, all others as they are.
  std::pair<ptrdiff_t, ptrdiff_t> bounds(ptrdiff_t place) {
    const ScheduleGraph& graph = graphs_[computation_.value];
    const uint32_t node = nodes_[order()[static_cast<size_t>(place)]];
    ptrdiff_t first = 0, last = static_cast<ptrdiff_t>(order().size()) - 1;
    for (uint32_t other : graph.before[node])
      first = std::max(first, place_[graph.instructions[other]] + 1);
    for (uint32_t other : graph.after[node])
      last = std::min(last, place_[graph.instructions[other]] - 1);
    return {first, last};
  }

  void move(ptrdiff_t from, ptrdiff_t to) {
    const auto begin = order().begin();
    if (from < to) std::rotate(begin + from, begin + from + 1, begin + to + 1);
    else std::rotate(begin + to, begin + from, begin + from + 1);
  }

  bool try_move(ptrdiff_t from, ptrdiff_t to) {
    if (left_-- <= 0) return false;
    move(from, to);
    const MeasuredPeak peak = meter_.measure(schedule_);
    if (std::pair(peak.bytes, peak.moments) < std::pair(peak_.bytes, peak_.moments)) {
      peak_ = peak;
      return true;
    }
    move(to, from);
    return false;
  }

  PeakMeter& meter_;
  const std::span<const ScheduleGraph> graphs_;
  Schedule& schedule_;
  MeasuredPeak peak_;
  int64_t left_ = 0;
  std::map<ComputationId, Caller> callers_;
  ComputationId computation_;                 // whose places and nodes these are
  std::map<InstructionId, ptrdiff_t> place_;  // in its order
  std::map<InstructionId, uint32_t> nodes_;   // in its graph
};

}  // namespace

void polish(const Module& module, PeakMeter& meter, std::span<const ScheduleGraph> graphs,
            Schedule& schedule, int64_t measures) {
  Polisher(meter, graphs, schedule).run(module, measures);
}

}  // namespace hilo

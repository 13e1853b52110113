#include <algorithm>
#include <numeric>

#include "plan/schedule.h"

namespace hilo {
namespace {

// Computations of more nodes get fewer of the dear orders.
constexpr size_t beam_work = 2'000'000;
constexpr size_t widest_beam = 32, narrowest_beam = 2;

// Orders of a graph and of its reverse, of which the best is kept.
class Candidates {
 public:
  explicit Candidates(const ScheduleGraph& graph) : graph_(graph), turned_(reverse(graph)) {
    best_.resize(graph.size());
    std::iota(best_.begin(), best_.end(), 0);
    peak_ = peak_of(graph, best_).bytes;
    keep(settle(graph, best_));
  }

  template <class Make>
  void try_both_ways(const Make& make) {
    keep_settled(make(graph_));
    Order order = make(turned_);
    std::ranges::reverse(order);
    keep_settled(std::move(order));
  }

  const Order& best() const { return best_; }

 private:
  void keep_settled(Order order) {
    Order settled = settle(graph_, order);
    keep(std::move(order));
    keep(std::move(settled));
  }
  void keep(Order order) {
    check(order.size() == graph_.size(), "a schedule has every instruction");
    const int64_t peak = peak_of(graph_, order).bytes;
    if (peak >= peak_) return;
    peak_ = peak;
    best_ = std::move(order);
  }

  const ScheduleGraph& graph_;
  const ScheduleGraph turned_;
  Order best_;
  int64_t peak_ = 0;
};

}  // namespace

Order best_order(const ScheduleGraph& graph) {
  Candidates candidates(graph);
  for (Tie tie : {Tie::Number, Tie::Newest, Tie::Smallest})
    candidates.try_both_ways([&](const ScheduleGraph& g) { return list_order(g, tie); });
  for (Visit visit : {Visit::InOrder, Visit::Backwards, Visit::DeepestFirst, Visit::HungriestFirst})
    candidates.try_both_ways([&](const ScheduleGraph& g) { return depth_first_order(g, visit); });
  const size_t width = std::min(widest_beam, beam_work / (1 + graph.size() * graph.size()));
  if (width >= narrowest_beam)
    candidates.try_both_ways([&](const ScheduleGraph& g) { return beam_order(g, width); });
  return candidates.best();
}

Schedule find_schedule(const Module& module, const Machine& machine, const Aliases& aliases) {
  Schedule schedule = schedule_of(module);
  const ScheduleGraphs graphs(module, machine, aliases);
  std::vector<int64_t> inside(module.computations.size(), 0);
  for (ComputationId computation : module.post_order()) {
    const ScheduleGraph graph = graphs.graph(computation, inside);
    const Order order = best_order(graph);
    inside[computation.value] = peak_of(graph, order).bytes;
    std::vector<InstructionId>& out = schedule.orders[computation.value];
    out.clear();
    for (uint32_t node : order) out.push_back(graph.instructions[node]);
  }
  return schedule;
}

}  // namespace hilo

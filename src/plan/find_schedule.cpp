#include <algorithm>
#include <queue>

#include "plan/schedule.h"

namespace hilo {
namespace {

// Nodes times nodes times width, shared by the computations of a module by their sizes.
constexpr size_t beam_work = 8'000'000;
constexpr size_t widest_beam = 32, narrowest_beam = 2;

// The order of the file, but for what has to wait.
Order file_order(const ScheduleGraph& graph) {
  std::vector<uint32_t> missing(graph.size());
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
  for (uint32_t node = 0; node < graph.size(); ++node) {
    missing[node] = static_cast<uint32_t>(graph.before[node].size());
    if (missing[node] == 0) ready.push(node);
  }
  Order order;
  order.reserve(graph.size());
  while (!ready.empty()) {
    const uint32_t node = ready.top();
    ready.pop();
    order.push_back(node);
    for (uint32_t next : graph.after[node])
      if (--missing[next] == 0) ready.push(next);
  }
  return order;
}

// Orders of a graph and of its reverse, of which the best is kept.
class Candidates {
 public:
  explicit Candidates(const ScheduleGraph& graph) : graph_(graph), turned_(reverse(graph)) {
    best_ = file_order(graph);
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
  // Whether no order can do better: what some node touches is all alive at once.
  bool is_least() const {
    int64_t most = 0, results = 0;
    for (uint32_t node = 0; node < graph_.size(); ++node) {
      int64_t touched = 0;
      for (uint32_t buffer : graph_.touches[node]) touched += graph_.bytes[buffer];
      most = std::max(most, touched);
    }
    for (uint32_t buffer = 0; buffer < graph_.bytes.size(); ++buffer)
      if (graph_.alive_last[buffer]) results += graph_.bytes[buffer];
    return peak_ <= std::max(most, results);
  }

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

Order best_order(const ScheduleGraph& graph, size_t work) {
  Candidates candidates(graph);
  if (candidates.is_least()) return candidates.best();
  for (TieBreak tie : {TieBreak::Number, TieBreak::Newest, TieBreak::Smallest})
    candidates.try_both_ways([&](const ScheduleGraph& g) { return list_order(g, tie); });
  for (Visit visit : {Visit::InOrder, Visit::Backwards, Visit::DeepestFirst, Visit::HungriestFirst})
    candidates.try_both_ways([&](const ScheduleGraph& g) { return depth_first_order(g, visit); });
  const size_t width = std::min(widest_beam, work / (1 + graph.size() * graph.size()));
  if (width >= narrowest_beam && !candidates.is_least())
    candidates.try_both_ways([&](const ScheduleGraph& g) { return beam_order(g, width); });
  return candidates.best();
}

Schedule find_schedule(const Module& module, const Machine& machine, const Aliases& aliases) {
  Schedule schedule = schedule_of(module);
  const ScheduleGraphs graphs(module, machine, aliases);
  std::vector<int64_t> inside(module.computations.size(), 0);
  const std::vector<ComputationId> computations = module.post_order();
  size_t count = 1;
  for (ComputationId computation : computations) count += module[computation].instructions.size();
  for (ComputationId computation : computations) {
    const ScheduleGraph graph = graphs.graph(computation, inside);
    const Order order = best_order(graph, beam_work * graph.size() / count);
    inside[computation.value] = peak_of(graph, order).bytes;
    std::vector<InstructionId>& out = schedule.orders[computation.value];
    out.clear();
    for (uint32_t node : order) out.push_back(graph.instructions[node]);
  }
  return schedule;
}

}  // namespace hilo

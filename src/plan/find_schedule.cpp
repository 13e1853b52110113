#include <algorithm>
#include <queue>
#include <utility>

#include "plan/schedule.h"

namespace hilo {
namespace {

// Instructions times measures of small changes.
constexpr size_t polish_work = 150'000, min_measures = 10;
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
  explicit Candidates(const ScheduleGraph& graph) : graph_(graph), reversed_(reverse(graph)) {
    least_ = peak_lower_bound();
    keep_settled(file_order(graph));
  }

  template <class Make>
  void try_both_ways(const Make& make) {
    if (is_least()) return;
    keep_settled(make(graph_));
    if (is_least()) return;
    Order order = make(reversed_);
    std::ranges::reverse(order);
    keep_settled(std::move(order));
  }

  const Order& best() const { return best_; }
  bool is_least() const { return peak_ <= least_; }

 private:
  // No order can do better: what some node touches is all alive at once.
  int64_t peak_lower_bound() const {
    int64_t most = 0, results = 0;
    for (uint32_t node = 0; node < graph_.size(); ++node) {
      int64_t touched = 0;
      for (uint32_t buffer : graph_.touches[node]) touched += graph_.bytes[buffer];
      most = std::max(most, touched);
    }
    for (uint32_t buffer = 0; buffer < graph_.bytes.size(); ++buffer)
      if (graph_.alive_last[buffer]) results += graph_.bytes[buffer];
    return std::max(most, results);
  }

  void keep_settled(Order order) {
    Order settled = settle(graph_, reversed_, order);  // better, too, where the peak is the same
    keep(std::move(settled));
    keep(std::move(order));
  }
  void keep(Order order) {
    check(order.size() == graph_.size(), "a schedule has every instruction");
    const int64_t peak = peak_of(graph_, order).bytes;
    if (peak >= peak_) return;
    peak_ = peak;
    best_ = std::move(order);
  }

  const ScheduleGraph& graph_;
  const ScheduleGraph reversed_;
  Order best_;
  int64_t peak_ = INT64_MAX, least_ = 0;
};

}  // namespace

Order best_order(const ScheduleGraph& graph, size_t work) {
  Candidates candidates(graph);
  for (TieBreak tie : {TieBreak::Number, TieBreak::Newest, TieBreak::Smallest})
    candidates.try_both_ways([&](const ScheduleGraph& g) { return list_order(g, tie); });
  for (Visit visit : {Visit::InOrder, Visit::Backwards, Visit::DeepestFirst, Visit::HungriestFirst})
    candidates.try_both_ways([&](const ScheduleGraph& g) { return depth_first_order(g, visit); });
  const size_t width = std::min(widest_beam, work / (1 + graph.size() * graph.size()));
  if (width >= narrowest_beam)
    candidates.try_both_ways([&](const ScheduleGraph& g) { return beam_order(g, width); });
  return candidates.best();
}

namespace {

// Every computation in an order that is soon found, and better ones for those in which the module
// comes close to its peak.
class Finder {
 public:
  Finder(const Module& module, const Machine& machine, const Aliases& aliases)
      : module_(module),
        computations_(module.post_order()),
        inside_(module.computations.size(), 0),
        graphs_(module.computations.size()),
        drafts_(module.computations.size()),
        runs_(module.computations.size(), false) {
    runs_[module.entry.value] = true;
    const ScheduleGraphs graphs(module, machine, aliases);
    for (ComputationId computation : computations_) {
      ScheduleGraph& graph = graphs_[computation.value];
      graph = graphs.graph(computation, inside_);
      drafts_[computation.value].order = Candidates(graph).best();
      evaluate(computation);
      for (const auto& [node, callee] : graph.calls) runs_[callee.value] = true;
      count_ += graph.size();
    }
    for (ComputationId computation : computations_)
      if (!runs_[computation.value])
        drafts_[computation.value].order = file_order(graphs_[computation.value]);
  }

  // In the second round are those that stand out only when others are better.
  void improve() {
    for (int round = 0; round < 2; ++round) {
      const std::vector<int64_t> reach = find_reach();
      const int64_t close = reach[module_.entry.value] / 10 * 8;
      for (ComputationId computation : computations_) {
        evaluate(computation);
        if (runs_[computation.value] && reach[computation.value] >= close) improve(computation);
      }
    }
  }

  std::span<const ScheduleGraph> graphs() const { return graphs_; }
  size_t count() const { return count_; }  // of instructions

  Schedule take() const {
    Schedule schedule = schedule_of(module_);
    for (ComputationId computation : computations_) {
      std::vector<InstructionId>& out = schedule.orders[computation.value];
      out.clear();
      for (uint32_t node : drafts_[computation.value].order)
        out.push_back(graphs_[computation.value].instructions[node]);
    }
    return schedule;
  }

 private:
  struct Draft {
    Order order;
    OrderPeak peak;
    bool is_improved = false;
  };

  void improve(ComputationId computation) {
    Draft& draft = drafts_[computation.value];
    if (std::exchange(draft.is_improved, true)) return;
    const ScheduleGraph& graph = graphs_[computation.value];
    Order order = best_order(graph, beam_work * graph.size() / (count_ + 1));
    if (peak_of(graph, order).bytes >= draft.peak.bytes) return;
    draft.order = std::move(order);
    evaluate(computation);
  }

  // By computation: the most bytes alive while it runs, its callers' included.
  std::vector<int64_t> find_reach() const {
    std::vector<int64_t> outside(drafts_.size(), 0), reach(drafts_.size(), 0);
    for (auto at = computations_.rbegin(); at != computations_.rend(); ++at) {
      const Draft& draft = drafts_[at->value];
      reach[at->value] = outside[at->value] + draft.peak.bytes;
      const ScheduleGraph& graph = graphs_[at->value];
      if (graph.calls.empty()) continue;
      std::vector<int64_t> alive(graph.size());
      MemoryState memory(graph);
      for (uint32_t node : draft.order) {
        alive[node] = outside[at->value] + memory.alive();
        memory.take(node);
      }
      for (const auto& [node, callee] : graph.calls)
        outside[callee.value] = std::max(outside[callee.value], alive[node]);
    }
    return reach;
  }

  void evaluate(ComputationId computation) {
    Draft& draft = drafts_[computation.value];
    ScheduleGraph& graph = graphs_[computation.value];
    for (const auto& [node, callee] : graph.calls) graph.inside[node] = 0;
    for (const auto& [node, callee] : graph.calls)
      graph.inside[node] = std::max(graph.inside[node], inside_[callee.value]);
    draft.peak = peak_of(graph, draft.order);
    inside_[computation.value] = draft.peak.bytes;
  }

  const Module& module_;
  const std::vector<ComputationId> computations_;  // callees first
  std::vector<int64_t> inside_;                    // by computation: its peak
  std::vector<ScheduleGraph> graphs_;              // by computation
  std::vector<Draft> drafts_;                      // by computation
  std::vector<bool> runs_;  // by computation: not fused or applied, whose values lie nowhere
  size_t count_ = 0;
};

}  // namespace

// A graph does not say which results are written over their operands: of the order that is best by
// the graphs and the one that was soon found, the meter takes the better, each polished.
Schedule find_schedule(const Module& module, const Machine& machine, const Aliases& aliases) {
  Finder finder(module, machine, aliases);
  Schedule drafted = finder.take();
  finder.improve();
  Schedule improved = finder.take();
  const size_t measures = polish_work / (finder.count() + 1);
  if (measures < min_measures) return improved;
  PeakMeter meter(module, machine, aliases);
  const auto polished_peak = [&](Schedule& schedule) {
    polish(module, meter, finder.graphs(), schedule, static_cast<int64_t>(measures));
    return meter.measure(schedule).bytes;
  };
  const int64_t peak = polished_peak(improved);
  if (drafted.orders == improved.orders) return improved;
  return polished_peak(drafted) < peak ? drafted : improved;
}

}  // namespace hilo

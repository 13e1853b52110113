// Orders in which everything a node needs comes right before it.
#include <algorithm>
#include <numeric>

#include "plan/schedule.h"

namespace hilo {
namespace {

// What it takes to make a node, were nothing shared: Sethi and Ullman's numbering ("The generation
// of optimal code for arithmetic expressions", 1970) with sizes for registers.
struct Need {
  double peak = 0, left = 0;
};

class DepthFirst {
 public:
  DepthFirst(const ScheduleGraph& graph, Visit visit) : graph_(graph), visit_(visit) {
    if (visit == Visit::DeepestFirst) find_depths();
    if (visit == Visit::HungriestFirst) find_needs();
  }

  Order run() {
    std::vector<uint32_t> ends;
    for (uint32_t node = 0; node < graph_.size(); ++node)
      if (graph_.after[node].empty()) ends.push_back(node);
    std::vector<bool> seen(graph_.size());
    struct Level {
      uint32_t node;
      std::vector<uint32_t> before;
      size_t next = 0;
    };
    std::vector<Level> stack = {{UINT32_MAX, sorted(ends)}};
    Order order;
    order.reserve(graph_.size());
    while (true) {
      Level& top = stack.back();
      if (top.next < top.before.size()) {
        const uint32_t node = top.before[top.next++];
        if (seen[node]) continue;
        seen[node] = true;
        stack.push_back({node, sorted(graph_.before[node])});
      } else if (stack.size() > 1) {
        order.push_back(top.node);
        stack.pop_back();
      } else {
        return order;
      }
    }
  }

 private:
  std::vector<uint32_t> sorted(std::span<const uint32_t> nodes) const {
    std::vector<uint32_t> out(nodes.begin(), nodes.end());
    if (visit_ == Visit::Backwards) std::ranges::reverse(out);
    if (!weight_.empty())
      std::ranges::stable_sort(out, std::greater<>(), [&](uint32_t node) { return weight_[node]; });
    return out;
  }

  // Nodes in an order with what they need first.
  Order topological() const {
    std::vector<uint32_t> missing(graph_.size());
    Order order;
    for (uint32_t node = 0; node < graph_.size(); ++node) {
      missing[node] = static_cast<uint32_t>(graph_.before[node].size());
      if (missing[node] == 0) order.push_back(node);
    }
    for (size_t i = 0; i < order.size(); ++i)
      for (uint32_t next : graph_.after[order[i]])
        if (--missing[next] == 0) order.push_back(next);
    return order;
  }

  void find_depths() {
    weight_.assign(graph_.size(), 0);
    for (uint32_t node : topological())
      for (uint32_t next : graph_.after[node])
        weight_[next] = std::max(weight_[next], weight_[node] + 1);
  }

  void find_needs() {
    std::vector<Need> needs(graph_.size());
    weight_.assign(graph_.size(), 0);
    for (uint32_t node : topological()) {
      double born = 0, sum = 0, peak = 0;
      for (uint32_t buffer : graph_.touches[node]) {
        const auto nodes = graph_.touched_by[buffer];
        const bool first = std::ranges::none_of(graph_.before[node], [&](uint32_t other) {
          return std::ranges::binary_search(graph_.touches[other], buffer);
        });
        if (first && !nodes.empty()) born += static_cast<double>(graph_.bytes[buffer]);
      }
      for (uint32_t other : sorted(graph_.before[node])) {
        peak = std::max(peak, sum + needs[other].peak);
        sum += needs[other].left;
      }
      peak = std::max(peak, sum + std::max(born, static_cast<double>(graph_.inside[node])));
      // A result that several nodes read is left to each of them in part.
      const double readers = std::max<double>(1, static_cast<double>(graph_.after[node].size()));
      needs[node] = {peak, born / readers};
      weight_[node] = needs[node].peak - needs[node].left;
    }
  }

  const ScheduleGraph& graph_;
  const Visit visit_;
  std::vector<double> weight_;  // by node: the heaviest are visited first
};

}  // namespace

Order depth_first_order(const ScheduleGraph& graph, Visit visit) {
  return DepthFirst(graph, visit).run();
}

}  // namespace hilo

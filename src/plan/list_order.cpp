// List scheduling: of the nodes that are ready, the one that adds least memory.
#include <algorithm>
#include <queue>
#include <tuple>

#include "plan/schedule.h"

namespace hilo {
namespace {

class ListScheduler {
 public:
  ListScheduler(const ScheduleGraph& graph, TieBreak tie)
      : graph_(graph), tie_(tie), memory_(graph), missing_(graph.size()), known_(graph.size()) {}

  Order run() {
    for (uint32_t node = 0; node < graph_.size(); ++node) {
      missing_[node] = static_cast<uint32_t>(graph_.before[node].size());
      if (missing_[node] == 0) add(node);
    }
    Order order;
    order.reserve(graph_.size());
    while (!ready_.empty()) {
      const Entry top = ready_.top();
      ready_.pop();
      const uint32_t node = std::get<3>(top);
      if (known_[node] != top) continue;
      known_[node] = taken;
      order.push_back(node);
      take(node);
    }
    return order;
  }

 private:
  // Added bytes, tie, tie, node: the least goes first.
  using Entry = std::tuple<int64_t, int64_t, uint32_t, uint32_t>;
  static constexpr Entry taken = {INT64_MIN, 0, 0, UINT32_MAX};

  void add(uint32_t node) {
    const int64_t born = memory_.born(node);
    int64_t tie = 0;
    if (tie_ == TieBreak::Newest) tie = -++age_;
    if (tie_ == TieBreak::Smallest) tie = std::max(born, graph_.inside[node]);
    if (tie_ == TieBreak::Newest && known_[node] != Entry{}) tie = std::get<1>(known_[node]);
    known_[node] = {born - memory_.freed(node), tie, node, node};
    ready_.push(known_[node]);
  }

  void renew(uint32_t node) {
    if (missing_[node] == 0 && known_[node] != taken) add(node);
  }

  void take(uint32_t node) {
    memory_.take(node);
    for (uint32_t buffer : graph_.touches[node]) {
      const auto nodes = graph_.touched_by[buffer];
      if (memory_.untaken(buffer) + 1 == nodes.size() && !graph_.alive_first[buffer])
        for (uint32_t other : nodes) renew(other);
      else if (memory_.untaken(buffer) == 1 && !graph_.alive_last[buffer])
        renew(memory_.last_untaken(buffer));
    }
    for (uint32_t next : graph_.after[node])
      if (--missing_[next] == 0) add(next);
  }

  const ScheduleGraph& graph_;
  const TieBreak tie_;
  MemoryState memory_;
  std::vector<uint32_t> missing_;  // by node: how many must still come before it
  std::vector<Entry> known_;       // by node: its entry that counts
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready_;
  int64_t age_ = 0;
};

}  // namespace

Order list_order(const ScheduleGraph& graph, TieBreak tie) {
  return ListScheduler(graph, tie).run();
}

}  // namespace hilo

#include <algorithm>
#include <numeric>

#include "plan/schedule.h"

namespace hilo {

Lists lists_of(size_t size, Edges edges) {
  std::ranges::sort(edges);
  edges.erase(std::ranges::unique(edges).begin(), edges.end());
  Lists lists;
  lists.first.assign(size + 1, 0);
  lists.items.reserve(edges.size());
  for (const auto& [from, to] : edges) {
    ++lists.first[from + 1];
    lists.items.push_back(to);
  }
  std::partial_sum(lists.first.begin(), lists.first.end(), lists.first.begin());
  return lists;
}

ScheduleGraph reverse(const ScheduleGraph& graph) {
  ScheduleGraph out = graph;
  std::swap(out.before, out.after);
  std::swap(out.alive_first, out.alive_last);
  return out;
}

MemoryState::MemoryState(const ScheduleGraph& graph)
    : graph_(&graph), untaken_(graph.bytes.size()), mixed_(graph.bytes.size(), 0) {
  for (uint32_t buffer = 0; buffer < graph.bytes.size(); ++buffer) {
    untaken_[buffer] = static_cast<uint32_t>(graph.touched_by[buffer].size());
    for (uint32_t node : graph.touched_by[buffer]) mixed_[buffer] ^= node;
    if (graph.alive_first[buffer]) alive_ += graph.bytes[buffer];
  }
}

int64_t MemoryState::born(uint32_t node) const {
  int64_t bytes = 0;
  for (uint32_t buffer : graph_->touches[node])
    if (untaken_[buffer] == graph_->touched_by[buffer].size() && !graph_->alive_first[buffer])
      bytes += graph_->bytes[buffer];
  return bytes;
}

int64_t MemoryState::freed(uint32_t node) const {
  int64_t bytes = 0;
  for (uint32_t buffer : graph_->touches[node])
    if (untaken_[buffer] == 1 && !graph_->alive_last[buffer]) bytes += graph_->bytes[buffer];
  return bytes;
}

void MemoryState::take(uint32_t node) {
  for (uint32_t buffer : graph_->touches[node]) {
    const bool is_first = untaken_[buffer] == graph_->touched_by[buffer].size();
    if (is_first && !graph_->alive_first[buffer]) alive_ += graph_->bytes[buffer];
    if (--untaken_[buffer] == 0 && !graph_->alive_last[buffer]) alive_ -= graph_->bytes[buffer];
    mixed_[buffer] ^= node;
  }
}

OrderPeak peak_of(const ScheduleGraph& graph, const Order& order) {
  MemoryState memory(graph);
  OrderPeak peak{memory.alive(), 0};
  for (size_t i = 0; i < order.size(); ++i) {
    const int64_t load = memory.load(order[i]);
    if (load > peak.bytes) peak = {load, i};
    memory.take(order[i]);
  }
  return peak;
}

}  // namespace hilo

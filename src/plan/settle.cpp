// Nodes of an order are moved to where they do least harm.
#include <algorithm>
#include <queue>

#include "plan/schedule.h"

namespace hilo {
namespace {

// What frees memory, or adds none, comes as soon as it may; all else keeps its place.
Order move_ahead(const ScheduleGraph& graph, const Order& order) {
  std::vector<bool> frees(graph.size());
  std::vector<uint32_t> place(graph.size()), missing(graph.size());
  MemoryState memory(graph);
  for (uint32_t i = 0; i < order.size(); ++i) {
    const uint32_t node = order[i];
    place[node] = i;
    missing[node] = static_cast<uint32_t>(graph.before[node].size());
    const int64_t before = memory.alive();
    memory.take(node);
    frees[node] = memory.alive() <= before && graph.inside[node] == 0;
  }
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> waiting;  // places
  std::vector<uint32_t> at_once;
  const auto add = [&](uint32_t node) {
    if (frees[node]) at_once.push_back(node);
    else waiting.push(place[node]);
  };
  for (uint32_t node : order)
    if (missing[node] == 0) add(node);
  Order out;
  out.reserve(order.size());
  while (!at_once.empty() || !waiting.empty()) {
    uint32_t node;
    if (!at_once.empty()) {
      node = at_once.back();
      at_once.pop_back();
    } else {
      node = order[waiting.top()];
      waiting.pop();
    }
    out.push_back(node);
    for (uint32_t next : graph.after[node])
      if (--missing[next] == 0) add(next);
  }
  return out;
}

}  // namespace

Order settle(const ScheduleGraph& graph, const ScheduleGraph& reversed, const Order& order) {
  Order out = order;
  for (int round = 0; round < 2; ++round) {
    std::ranges::reverse(out);
    out = move_ahead(reversed, out);
    std::ranges::reverse(out);
    out = move_ahead(graph, out);
  }
  return out;
}

}  // namespace hilo

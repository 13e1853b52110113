// Beam search over sets of taken nodes.
//
// A node that adds no memory, and whose load is not above the peak so far, can be taken at once:
// moving it ahead raises no other load. Nodes that need nothing wait until something needs them.
#include <algorithm>
#include <random>
#include <tuple>
#include <unordered_set>

#include "plan/schedule.h"

namespace hilo {
namespace {

struct State {
  MemoryState memory;
  std::vector<uint32_t> missing;  // by node: how many it still needs, nodes without needs aside
  std::vector<uint32_t> ready;    // not taken, missing nothing; no sources
  std::vector<bool> taken;
  int64_t peak = 0;
  uint64_t hash = 0;
  uint32_t step = UINT32_MAX;  // the last of its steps
  uint32_t count = 0;
};

struct Choice {
  int64_t peak = 0, alive = 0;
  uint32_t state = 0, node = 0;
};

class Beam {
 public:
  Beam(const ScheduleGraph& graph, size_t width) : graph_(graph), width_(width) {
    std::mt19937_64 random(1);
    for (uint32_t node = 0; node < graph.size(); ++node) {
      keys_.push_back(random());
      is_source_.push_back(graph.before[node].empty() && graph.inside[node] == 0);
    }
  }

  Order run() {
    buckets_.resize(graph_.size() + 1);
    add(first_state());
    for (uint32_t count = 0; count < graph_.size(); ++count) {
      expand(buckets_[count]);
      std::vector<State>().swap(buckets_[count]);
    }
    const std::vector<State>& last = buckets_.back();
    const State& best = *std::ranges::min_element(last, {}, &State::peak);
    Order order;
    for (uint32_t step = best.step; step != UINT32_MAX; step = steps_[step].before)
      order.push_back(steps_[step].node);
    std::ranges::reverse(order);
    return order;
  }

 private:
  struct Step {
    uint32_t before, node;
  };

  State first_state() {
    State state{MemoryState(graph_), {}, {}, std::vector<bool>(graph_.size())};
    state.peak = state.memory.alive();
    for (uint32_t node = 0; node < graph_.size(); ++node) {
      const auto needs = [&](uint32_t other) { return !is_source_[other]; };
      state.missing.push_back(
          static_cast<uint32_t>(std::ranges::count_if(graph_.before[node], needs)));
      if (state.missing[node] == 0 && !is_lone_source(node)) state.ready.push_back(node);
    }
    return state;
  }

  // Sources that nothing needs are taken like other nodes.
  bool is_lone_source(uint32_t node) const {
    return is_source_[node] && !graph_.after[node].empty();
  }

  void take_one(State& state, uint32_t node) {
    state.peak = std::max(state.peak, state.memory.load(node));
    state.memory.take(node);
    state.taken[node] = true;
    state.hash ^= keys_[node];
    steps_.push_back({state.step, node});
    state.step = static_cast<uint32_t>(steps_.size() - 1);
    ++state.count;
    if (is_source_[node]) return;
    for (uint32_t next : graph_.after[node])
      if (--state.missing[next] == 0) state.ready.push_back(next);
  }

  void take(State& state, uint32_t node) {
    for (uint32_t source : graph_.before[node])
      if (is_source_[source] && !state.taken[source]) take_one(state, source);
    std::erase(state.ready, node);
    take_one(state, node);
  }

  // What taking the node, and sources that it needs, would bring.
  Choice look(const State& state, uint32_t node) const {
    int64_t born = 0, freed = state.memory.freed(node);
    for (uint32_t source : graph_.before[node]) {
      if (!is_source_[source] || state.taken[source]) continue;
      born += state.memory.born(source);
      for (uint32_t buffer : graph_.touches[source])
        if (graph_.touched_by[buffer].size() == 2 && !graph_.alive_last[buffer])
          freed += graph_.bytes[buffer];
    }
    Choice choice;
    choice.peak = std::max(state.peak, born + state.memory.load(node));
    choice.alive = state.memory.alive() + born + state.memory.born(node) - freed;
    choice.node = node;
    return choice;
  }

  void take_free(State& state) {
    for (bool again = true; again;) {
      again = false;
      for (size_t i = 0; i < state.ready.size(); ++i) {
        const Choice choice = look(state, state.ready[i]);
        if (choice.peak > state.peak || choice.alive > state.memory.alive()) continue;
        take(state, choice.node);
        again = true;
        break;
      }
    }
  }

  void add(State state) {
    take_free(state);
    buckets_[state.count].push_back(std::move(state));
  }

  void expand(std::vector<State>& states) {
    std::ranges::stable_sort(
        states, {}, [](const State& state) { return std::pair(state.peak, state.memory.alive()); });
    std::unordered_set<uint64_t> seen;
    std::erase_if(states, [&](const State& state) { return !seen.insert(state.hash).second; });
    if (states.size() > width_)
      states.erase(states.begin() + static_cast<ptrdiff_t>(width_), states.end());
    std::vector<Choice> choices;
    std::unordered_set<uint64_t> next;
    for (uint32_t i = 0; i < states.size(); ++i)
      for (uint32_t node : states[i].ready) {
        choices.push_back(look(states[i], node));
        choices.back().state = i;
      }
    std::ranges::stable_sort(
        choices, {}, [](const Choice& choice) { return std::pair(choice.peak, choice.alive); });
    size_t kept = 0;
    for (const Choice& choice : choices) {
      if (!next.insert(states[choice.state].hash ^ keys_[choice.node]).second) continue;
      State state = states[choice.state];
      take(state, choice.node);
      add(std::move(state));
      if (++kept == width_) break;
    }
  }

  const ScheduleGraph& graph_;
  const size_t width_;
  std::vector<uint64_t> keys_;   // by node: what it adds to the hash of a set
  std::vector<bool> is_source_;  // by node
  std::vector<Step> steps_;
  std::vector<std::vector<State>> buckets_;  // by how many nodes are taken
};

}  // namespace

Order beam_order(const ScheduleGraph& graph, size_t width) { return Beam(graph, width).run(); }

}  // namespace hilo

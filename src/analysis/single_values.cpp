// Phis that stand for one value only, all of them: what is strongly connected and has one value
// flow in from outside is that value; where more flow in, the phis inside that only see each other
// are looked at by themselves (the removal of redundant phis in Braun et al., "Simple and Efficient
// Construction of Static Single Assignment Form", 2013).
#include <algorithm>

#include "analysis/phi_graph.h"

namespace hilo {
namespace {

// What is nested deeper stays a phi, which is right as well.
constexpr int deepest = 64;

class SingleValues {
 public:
  explicit SingleValues(std::span<const std::vector<uint32_t>> operands)
      : operands_(operands),
        stands_(operands.size()),
        set_(operands.size(), 0),
        number_(operands.size(), 0),
        low_(operands.size(), 0) {
    for (uint32_t i = 0; i < stands_.size(); ++i) stands_[i] = i;
  }

  std::vector<uint32_t> run() {
    std::vector<uint32_t> phis;
    for (uint32_t i = 0; i < operands_.size(); ++i)
      if (!operands_[i].empty()) phis.push_back(i);
    solve(phis, 0);
    for (uint32_t i = 0; i < stands_.size(); ++i) stands_[i] = find(i);
    return std::move(stands_);
  }

 private:
  struct Level {
    uint32_t node;
    size_t next = 0;
  };

  uint32_t find(uint32_t node) {
    while (stands_[node] != node) node = stands_[node] = stands_[stands_[node]];
    return node;
  }

  // Tarjan's components of the phis given, of which each comes after those that flow into it.
  void solve(std::span<const uint32_t> phis, int depth) {
    const uint32_t set = ++sets_;
    for (uint32_t phi : phis) {
      set_[phi] = set;
      number_[phi] = 0;
    }
    uint32_t last = 0;
    std::vector<uint32_t> open;  // numbered, their component not yet known
    std::vector<Level> stack;
    const auto enter = [&](uint32_t node) {
      number_[node] = low_[node] = ++last;
      open.push_back(node);
      stack.push_back({node});
    };
    for (uint32_t phi : phis) {
      if (set_[phi] == set && number_[phi] == 0) enter(phi);
      while (!stack.empty()) {
        Level& top = stack.back();
        const uint32_t node = top.node;
        if (top.next < operands_[node].size()) {
          const uint32_t operand = operands_[node][top.next++];
          if (set_[operand] != set) continue;
          if (number_[operand] == 0) enter(operand);
          else low_[node] = std::min(low_[node], number_[operand]);
          continue;
        }
        stack.pop_back();
        if (!stack.empty()) low_[stack.back().node] = std::min(low_[stack.back().node], low_[node]);
        if (low_[node] == number_[node]) close(open, node, depth);
      }
    }
  }

  void close(std::vector<uint32_t>& open, uint32_t first, int depth) {
    const auto at = std::find(open.rbegin(), open.rend(), first).base() - 1;
    const std::vector<uint32_t> component(at, open.end());
    open.erase(at, open.end());
    const uint32_t mark = ++sets_;
    for (uint32_t node : component) set_[node] = mark;
    uint32_t only = UINT32_MAX;
    bool several = false;
    std::vector<uint32_t> inner;
    for (uint32_t node : component) {
      bool is_inner = true;
      for (uint32_t operand : operands_[node]) {
        const uint32_t value = find(operand);
        if (set_[value] == mark) continue;
        is_inner = false;
        several |= only != UINT32_MAX && only != value;
        only = value;
      }
      if (is_inner) inner.push_back(node);
    }
    if (several && !inner.empty() && depth < deepest) solve(inner, depth + 1);
    if (several || only == UINT32_MAX) return;
    for (uint32_t node : component) stands_[node] = only;
  }

  const std::span<const std::vector<uint32_t>> operands_;
  std::vector<uint32_t> stands_;        // by node
  std::vector<uint32_t> set_;           // by node: the set that it is looked at with
  std::vector<uint32_t> number_, low_;  // by node
  uint32_t sets_ = 0;
};

}  // namespace

std::vector<uint32_t> find_single_values(std::span<const std::vector<uint32_t>> operands) {
  return SingleValues(operands).run();
}

}  // namespace hilo

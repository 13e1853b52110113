#include "analysis/phi_graph.h"

#include <algorithm>
#include <utility>

namespace hilo {
namespace {

// Looking for closures takes quadratic time in odd graphs; what is not found in time stays a phi,
// which is right as well.
constexpr int64_t max_steps = 20'000'000;

std::vector<uint32_t> sorted_unique(std::vector<uint32_t> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

}  // namespace

uint32_t PhiGraph::node_of(uint32_t value) {
  const auto [at, is_new] = node_of_value_.try_emplace(value, static_cast<uint32_t>(nodes_.size()));
  if (is_new) {
    nodes_.emplace_back().value = value;
    nodes_.back().stands_for.push_back(value);
  }
  return at->second;
}

void PhiGraph::set_inputs(uint32_t phi, std::span<const uint32_t> inputs) {
  const uint32_t node = node_of(phi);
  std::vector<uint32_t> operands;
  for (uint32_t input : inputs) operands.push_back(node_of(input));
  nodes_[node].is_phi = true;
  nodes_[node].operands = std::move(operands);
}

bool PhiGraph::has_inputs(uint32_t phi, std::span<const uint32_t> inputs) const {
  std::vector<uint32_t> now;
  for (uint32_t operand : nodes_[node_of_value_.at(phi)].operands)
    now.push_back(nodes_[operand].value);
  return sorted_unique(std::move(now)) ==
         sorted_unique(std::vector<uint32_t>(inputs.begin(), inputs.end()));
}

uint32_t PhiGraph::optimized(uint32_t value) const {
  const auto at = node_of_value_.find(value);
  return at == node_of_value_.end() ? value : nodes_[at->second].value;
}

// Users that the node took over from others are not told; so does XLA, and its numbers show it.
bool PhiGraph::replace(uint32_t node, uint32_t by) {
  if (nodes_[by].is_dead) by = node_of_value_.at(nodes_[by].value);
  if (nodes_[node].is_dead || by == node) return false;
  for (uint32_t user : nodes_[node].users)
    std::replace(nodes_[user].operands.begin(), nodes_[user].operands.end(), node, by);
  for (uint32_t operand : nodes_[node].operands)
    std::replace(nodes_[operand].users.begin(), nodes_[operand].users.end(), node, by);
  for (uint32_t value : nodes_[node].stands_for) {
    node_of_value_[value] = by;
    nodes_[by].stands_for.push_back(value);
  }
  nodes_[node].stands_for.clear();
  nodes_[node].is_dead = true;
  return true;
}

// A phi and all that flows into it, through other phis: when only one value is no phi, all are it.
bool PhiGraph::replace_closure(uint32_t start, std::vector<bool>& checked) {
  std::vector<uint32_t> closure = {start};
  seen_.resize(nodes_.size(), 0);
  seen_[start] = ++closures_;
  uint32_t only = UINT32_MAX;
  for (size_t i = 0; i < closure.size(); ++i) {
    const uint32_t node = closure[i];
    checked[node] = true;
    if (++steps_ > max_steps) return false;
    if (!nodes_[node].is_phi) {
      if (only != UINT32_MAX) return false;
      only = node;
    }
    for (uint32_t operand : nodes_[node].operands)
      if (std::exchange(seen_[operand], closures_) != closures_) closure.push_back(operand);
  }
  if (only == UINT32_MAX) return false;
  bool changed = false;
  for (uint32_t node : closure)
    if (node != only && replace(node, only)) changed = true;
  return changed;
}

bool PhiGraph::optimize_node(uint32_t index, std::vector<bool>& checked) {
  Node& node = nodes_[index];
  if (!node.is_phi || node.is_dead) return false;
  std::erase(node.operands, index);
  std::erase(node.users, index);
  if (node.operands.empty()) return false;  // only in code that never runs
  const uint32_t first = node.operands.front();
  if (std::all_of(node.operands.begin(), node.operands.end(),
                  [&](uint32_t operand) { return operand == first; }))
    return replace(index, first);
  return !checked[index] && replace_closure(index, checked);
}

void PhiGraph::optimize() {
  for (uint32_t i = 0; i < nodes_.size(); ++i)
    for (uint32_t operand : nodes_[i].operands) nodes_[operand].users.push_back(i);
  for (bool changed = true; changed && steps_ <= max_steps;) {
    changed = false;
    std::vector<bool> checked(nodes_.size());
    for (uint32_t i = 0; i < nodes_.size(); ++i)
      if (optimize_node(i, checked)) changed = true;
    steps_ += static_cast<int64_t>(nodes_.size());
  }
  replace_missed();
}

// Two phis that are one value would be two in one buffer at once.
void PhiGraph::replace_missed() {
  std::vector<std::vector<uint32_t>> operands(nodes_.size());
  for (uint32_t i = 0; i < nodes_.size(); ++i)
    if (nodes_[i].is_phi && !nodes_[i].is_dead)
      for (uint32_t operand : nodes_[i].operands)
        operands[i].push_back(node_of_value_.at(nodes_[operand].value));
  const std::vector<uint32_t> stands = find_single_values(operands);
  for (uint32_t i = 0; i < nodes_.size(); ++i)
    if (stands[i] != i) replace(i, stands[i]);
}

}  // namespace hilo

// Private to analysis. Phi values and what flows into them; finds the phis that stand for one value
// only. Follows the order of XLA's HloPhiGraph, whose result depends on it.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace hilo {

class PhiGraph {
 public:
  // Tells what flows into a phi; again when that changes.
  void set_inputs(uint32_t phi, std::span<const uint32_t> inputs);
  bool has_inputs(uint32_t phi, std::span<const uint32_t> inputs) const;  // as sets
  // First as XLA does it, whose numbers depend on what it misses, then all that it missed.
  void optimize();
  // The value that stands for this one after optimize(); itself for most.
  uint32_t optimized(uint32_t value) const;

 private:
  struct Node {
    uint32_t value = 0;
    bool is_phi = false, is_dead = false;
    std::vector<uint32_t> operands, users;  // nodes
    std::vector<uint32_t> stands_for;       // values
  };
  uint32_t node_of(uint32_t value);
  bool replace(uint32_t node, uint32_t by);
  bool optimize_node(uint32_t node, std::vector<bool>& checked);
  bool replace_closure(uint32_t node, std::vector<bool>& checked);
  void replace_missed();

  std::vector<Node> nodes_;
  std::unordered_map<uint32_t, uint32_t> node_of_value_;
  std::vector<uint32_t> seen_;  // by node: the last closure that it was in
  uint32_t closures_ = 0;
  int64_t steps_ = 0;
};

// By node, from what flows into each (nothing into what is no phi): the node that stands for it,
// itself for most.
std::vector<uint32_t> find_single_values(std::span<const std::vector<uint32_t>> operands);

}  // namespace hilo

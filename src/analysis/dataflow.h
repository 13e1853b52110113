// Private to analysis. Which values stand where: definitions first, then flows to a fixed point in
// the order of XLA's HloDataflowAnalysis, so that phi values get the same numbers.
#pragma once

#include "analysis/flows.h"
#include "analysis/phi_graph.h"
#include "analysis/value_sets.h"

namespace hilo {

class Dataflow {
 public:
  struct Definition {
    InstructionId instruction;
    uint32_t node = 0;
    bool is_phi = false, is_deleted = false;
  };

  Dataflow(const Module& module, const CallGraph& calls, const NodeTable& nodes);
  Result<void> run();

  std::vector<Definition> values;    // by number
  std::vector<uint32_t> first_node;  // by instruction, and one more
  std::vector<ValueSets::Set> sets;  // by node
  ValueSets known_sets;

 private:
  struct Instance {
    Joining joining = Joining::Replace;
    uint32_t first_flow = 0, flow_count = 0;
    uint32_t rank = 0;  // order of propagation
  };

  void add_instruction(InstructionId id);
  void define(InstructionId id, bool is_phi, uint32_t node);
  void rank_computation(ComputationId computation, std::vector<bool>& seen);
  void index_dependents();
  void propagate();
  bool update(InstructionId id);
  bool update_united(InstructionId id);
  bool update_phi(InstructionId id);
  bool update_phi_node(InstructionId id, uint32_t node, std::span<const uint32_t> inputs);
  void replace_phis();
  std::span<const Flow> flows_of(InstructionId id) const {
    const Instance& instance = instances_[id.value];
    return {flows_.data() + instance.first_flow, instance.flow_count};
  }

  const Module& module_;
  const CallGraph& calls_;
  const NodeTable& nodes_;
  std::vector<std::vector<InstructionId>> orders_;  // by computation
  std::vector<Instance> instances_;                 // by instruction
  std::vector<Flow> flows_;
  std::vector<InstructionId> ranked_;                   // by rank
  std::vector<uint32_t> first_dependent_, dependents_;  // ranks of those that flow from one
  PhiGraph phis_;
};

}  // namespace hilo

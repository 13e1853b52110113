// Private to analysis. What instructions write over, by number of node.
#pragma once

#include "analysis/analysis.h"
#include "analysis/shape_nodes.h"

namespace hilo {

struct NodePair {
  int64_t operand = 0;
  uint32_t operand_node = 0, output_node = 0;
};

// Knows the pairs of instructions that were asked for; the computations that a fusion calls must
// have been added before it.
class InPlacePairs {
 public:
  InPlacePairs(const Module& module, const NodeTable& nodes);
  void add_computation(ComputationId computation);
  std::span<const NodePair> operator[](InstructionId id) const;

 private:
  // A part of an instruction's result.
  struct Part {
    InstructionId instruction;
    uint32_t node = 0;
  };
  void add(InstructionId id);
  void add_declared(InstructionId id, const OutputOperandAliases& aliases);
  void add_first_operands(InstructionId id, size_t count);
  void add_collective_permute(InstructionId id);
  void add_fusion(InstructionId id);
  Part source_of(Part part) const;
  Part written_over(Part part) const;

  const Module& module_;
  const NodeTable& nodes_;
  std::vector<uint32_t> first_, count_;  // by instruction
  std::vector<NodePair> pairs_;
};

// Whether the backend_config of `user` lists the operand with that part of the result.
bool declares_sharing(const Module& module, InstructionId operand, InstructionId user,
                      const Dims& user_index);

}  // namespace hilo

// Private to analysis. Where the parts of an instruction's result come from when the instruction
// does not make them itself: the rules of XLA's HloDataflowAnalysis with phis, bitcasts passing
// their operand on.
#pragma once

#include "analysis/call_graph.h"
#include "analysis/shape_nodes.h"

namespace hilo {

// `count` nodes from `to` hold what those of `from` hold from `from_node` on. Without `from` they
// hold nothing.
struct Flow {
  uint32_t to = 0;
  InstructionId from;
  uint32_t from_node = 0, count = 1;
};

enum class Joining : uint8_t {
  Replace,  // each node has one flow at most; nodes without are made here
  Unite,    // nodes may have several flows and hold the values of all
  Phi,      // where several values flow in, a new one stands for them
};

struct FlowSource {
  const Module& module;
  const CallGraph& calls;
  const NodeTable& nodes;
};
// Appends the flows into an instruction's result.
Joining add_flows(const FlowSource& source, InstructionId id, std::vector<Flow>& out);

}  // namespace hilo

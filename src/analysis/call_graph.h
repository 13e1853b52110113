// Private to analysis. Who calls each computation and how, and the order of numbering.
#pragma once

#include "ir/ir.h"

namespace hilo {

// Control flow passes operands to parameters; applied computations (fusions, reducers,
// comparators) stand for themselves, and so does all that they call.
enum class CallContext : uint8_t { None, ControlFlow, Applied, Both };

struct CallGraph {
  explicit CallGraph(const Module& module);

  std::vector<ComputationId> order;                 // XLA's order of numbering; the entry last
  std::vector<std::vector<InstructionId>> callers;  // by computation; async-start for its chain
  std::vector<CallContext> contexts;                // by computation
};

// Whether the op passes its operands to the computations that it calls.
bool calls_control_flow(Op op);
// The instructions of each of the computations, by computation: operands before users, first
// operands first, control predecessors before those; what nobody uses in the order of the file.
std::vector<std::vector<InstructionId>> post_orders(const Module& module,
                                                    std::span<const ComputationId> computations);

}  // namespace hilo

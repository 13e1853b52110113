// Private to analysis. The order of computations in which XLA numbers their values.
#pragma once

#include "ir/ir.h"

namespace hilo {

// `callers` by computation; `post_order` holds the computations, callees first.
std::vector<ComputationId> numbering_order(const Module& module,
                                           const std::vector<std::vector<InstructionId>>& callers,
                                           std::vector<ComputationId> post_order);

}  // namespace hilo

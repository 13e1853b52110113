// Instructions of computations added to block programs. Private to `eval`.
#pragma once

#include "eval/block_program.h"
#include "eval/call.h"

namespace hilo {

// Adds a computation over scalars; arguments and results are registers of leaves in order. False:
// it holds an instruction that blocks cannot do.
Result<bool> add_scalar_computation(BlockProgram& program, const Module& module,
                                    ComputationId computation, bool ideal,
                                    std::span<const int> arguments, std::vector<int>& results,
                                    int depth = 0);

}  // namespace hilo

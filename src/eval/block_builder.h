// Instructions of computations added to block programs. Private to `eval`.
#pragma once

#include "eval/block_program.h"
#include "eval/call.h"

namespace hilo {

inline constexpr int64_t few_elements = 8;  // of an array whose elements have a register each

// Whether every leaf is an array of few elements; then their number, else -1.
int64_t count_few(const Shape& shape);

// Adds a computation over arrays of few elements; arguments and results are registers of the
// elements of leaves in order. False: it holds an instruction that blocks cannot do, or is too
// large.
Result<bool> add_small_computation(BlockProgram& program, const Module& module,
                                   ComputationId computation, bool ideal,
                                   std::span<const int> arguments, std::vector<int>& results);

}  // namespace hilo

// Instructions of computations added to block programs. Private to `eval`.
#pragma once

#include <set>

#include "eval/block_program.h"
#include "eval/call.h"

namespace hilo {

inline constexpr int64_t max_register_elements = 8;  // of an array kept in registers

// Whether every leaf is an array of few elements; then their number, else -1.
int64_t count_few(const Shape& shape);

// Adds a computation over arrays of few elements; arguments and results are registers of the
// elements of leaves in order. False: it holds an instruction that blocks cannot do, or is too
// large.
Result<bool> add_small_computation(BlockProgram& program, const Module& module,
                                   ComputationId computation, bool ideal,
                                   std::span<const int> arguments, std::vector<int>& results);

// The values of a computation over scalars, and all that they are made of.
std::set<InstructionId> instructions_under(const Module& module,
                                           std::span<const InstructionId> values);
// Adds some values of a computation over scalars, and no instruction that they do not need; their
// registers are `results`. False as above.
Result<bool> add_values(BlockProgram& program, const Module& module, ComputationId computation,
                        std::span<const int> arguments, std::span<const InstructionId> values,
                        std::vector<int>& results);

}  // namespace hilo

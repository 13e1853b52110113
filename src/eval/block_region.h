// Elementwise instructions of a computation that are evaluated together in blocks. Private to
// `eval`.
#pragma once

#include "eval/block_program.h"
#include "eval/call.h"

namespace hilo {

// Its instructions have no value of their own but the root's. Broadcasts, transposes, slices,
// reverses, iotas and scalar constants that only regions read are read through strides.
struct BlockRegion {
  InstructionId root;
  BlockProgram program;
  std::vector<InstructionId> inputs;  // values made before, in the order of the program's sources
  std::vector<bool> streamed;         // whether the input is read in order
};

struct BlockRegions {
  std::unordered_map<uint32_t, std::shared_ptr<const BlockRegion>> by_root;
  std::vector<bool> absorbed;  // by position in the order: needs no step
};
// order: the computation's instructions, operands before users.
Result<BlockRegions> find_regions(const Module& module, ComputationId computation,
                                  std::span<const InstructionId> order, bool ideal);

// The value of the root; the call's operands are the region's inputs.
Result<Literal> evaluate_region(Call& call);

}  // namespace hilo

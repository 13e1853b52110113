// Private to `pass`.
#pragma once

#include "rewrite/rewrite.h"

namespace hilo {

// Whether a loop over its elements computes the value, each for itself, so that another loop may
// compute any of them. One of several outputs of a fusion may be. Where fusions are made.
bool is_elementwise_producer(const Editor& editor, InstructionId id);
// A copy of what such a loop computes, of these operands. Of several outputs it is their tuple.
InstructionId clone_producer(Editor& editor, InstructionId id, ComputationId into,
                             std::span<const InstructionId> operands);
bool is_output_of_fusion(const Module& module, InstructionId id);

}  // namespace hilo

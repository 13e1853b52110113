// Private to `target`.
#pragma once

#include "rewrite/rewrite.h"

namespace hilo {

// By computation: whether a fusion calls it.
std::vector<bool> fused_computations(const Module& module);
// One loop in the place of an instruction, which the root of `body` is a copy of. Returns it.
InstructionId replace_by_fusion(Editor& editor, InstructionId id, ComputationId body,
                                std::span<const InstructionId> operands);

}  // namespace hilo

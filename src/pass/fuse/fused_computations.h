// Private to `pass`.
#pragma once

#include <functional>

#include "rewrite/rewrite.h"

namespace hilo {

// By computation: whether a fusion calls it.
std::vector<bool> fused_computations(const Module& module);
// Calls `change` with each instruction that stands outside of fused computations before the first
// call. Says whether one of the calls did.
bool change_unfused(Module& module, const std::function<bool(InstructionId)>& change);
// One loop in the place of an instruction, which the root of `body` is a copy of. Returns it.
InstructionId replace_by_fusion(Editor& editor, InstructionId id, ComputationId body,
                                std::span<const InstructionId> operands);

}  // namespace hilo

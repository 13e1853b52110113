// What values of a program are in a run of it, taken out on the way. Private to `tools`.
#pragma once

#include "eval/eval.h"

namespace hilo::tools {

// On each device the values of these instructions of one computation, the first time that all of
// them are there; the evaluation ends then. Evaluation: they never are, as in a branch that is not
// taken, or in the middle of a fusion. `inputs` are for device_count(module, options) devices.
Result<std::vector<std::vector<Literal>>> values_in_run(const Module& module,
                                                        std::span<const InstructionId> wanted,
                                                        Inputs inputs, const EvalOptions& options);

// The same for an instruction's operands, one for each use.
Result<std::vector<std::vector<Literal>>> operand_values(const Module& module, InstructionId id,
                                                         Inputs inputs, const EvalOptions& options);

}  // namespace hilo::tools

// Custom calls that see bytes in memory, as ops on values. Private to `pass`.
#pragma once

#include "pass/pass.h"

namespace hilo {

// What gives the value of such a call, which has the result's sizes and no layout, from operands in
// their layouts. An error where sizes do not fit or no op has such bits.
using ExpandCall = Result<InstructionId> (*)(Editor& editor, InstructionId id);
// For each call whose row in eval/custom_call.def says Bytes; null for others.
ExpandCall find_expansion(std::string_view target);

#define HILO_EXPAND_Values(function)
#define HILO_EXPAND_Bytes(function) \
  Result<InstructionId> expand_##function(Editor& editor, InstructionId id);
#define CUSTOM_CALL(target, family, function, sees, meaning) HILO_EXPAND_##sees(function)
#include "eval/custom_call.def"
#include "eval/custom_call_lapack.def"
#undef CUSTOM_CALL
#undef HILO_EXPAND_Bytes
#undef HILO_EXPAND_Values

// The memory of operand 0 as the stated shape: what bitcast means.
Result<InstructionId> expand_to_shape(Editor& editor, InstructionId id);

}  // namespace hilo

// What code reads and calls outside of itself goes by names, not by addresses, so that a program is
// the same code in every process. Private to `emit`.
#pragma once

#include "emit/ir_types.h"

namespace hilo {

// The function of libm that is at this address here.
llvm::FunctionCallee libm_function(llvm::Module& ir, const void* address);
// The bytes of a constant's literal.
llvm::GlobalVariable* constant_array(llvm::Module& ir, InstructionId constant);
// The constant whose bytes are called so.
std::optional<InstructionId> constant_called(std::string_view name);

}  // namespace hilo

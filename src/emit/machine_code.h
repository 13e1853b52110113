// LLVM IR to machine code of this process. Private to `emit`.
#pragma once

#include "emit/chip.h"
#include "emit/llvm_modules.h"

namespace hilo {

// Optimises each part of the module's program and makes code of it, on so many threads, or takes
// the code from the cache, and links all into this process; code.run, code.keeper, the cache's
// report and the seconds are set, or code.object for an object file. The code is the same for any
// number of threads. The parts' IR is used up.
Result<void> make_machine_code(const Module& module, LlvmModules& parts, const EmitOptions& options,
                               Code& code);

// Makes what the first call needs besides; calls on other threads may come meanwhile.
void open_code_generator();

}  // namespace hilo

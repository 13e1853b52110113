// LLVM IR to machine code of this process. Private to `emit`.
#pragma once

#include <llvm/IR/Module.h>

#include "emit/emit.h"

namespace hilo {

// Optimises the module and links it into this process; code.run and code.keeper are set.
Result<void> make_machine_code(std::unique_ptr<llvm::LLVMContext> context,
                               std::unique_ptr<llvm::Module> ir, const EmitOptions& options,
                               Code& code);
// The function attributes and the data layout of the chip are set on what is emitted before.
Result<void> set_target(llvm::Module& ir, const EmitOptions& options);

}  // namespace hilo

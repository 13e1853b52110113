// LLVM IR to machine code of this process. Private to `emit`.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include "emit/emit.h"

namespace hilo {

// The chip and the features that the options name.
Result<std::unique_ptr<llvm::TargetMachine>> target_machine(const EmitOptions& options);
// Optimises the module, which has the machine's data layout, and links it into this process;
// code.run and code.keeper are set.
Result<void> make_machine_code(std::unique_ptr<llvm::LLVMContext> context,
                               std::unique_ptr<llvm::Module> ir, llvm::TargetMachine& machine,
                               Code& code);

}  // namespace hilo

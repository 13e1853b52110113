// How vectors are read and written. Private to `emit`.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/PassManager.h>

namespace llvm {
class TargetMachine;
}

namespace hilo {

// After all that changes what vectors compute: they are stored whole, single lanes alone, and past
// the caches; they are fetched ahead, and constants are operands. The values are the same.
void hasten_memory(llvm::Function& function, llvm::FunctionAnalysisManager& functions,
                   const llvm::TargetMachine& machine, unsigned register_bits);

}  // namespace hilo

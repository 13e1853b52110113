// The LLVM passes that kernels need, and no more. Private to `emit`.
#pragma once

#include <llvm/IR/Module.h>

namespace llvm {
class TargetMachine;
}

namespace hilo {

// Loops are emitted rotated and in SSA form, so that what is left is to clean up, move what does
// not change out of loops, and vectorise.
void optimise(llvm::Module& ir, llvm::TargetMachine& machine, bool verify);

}  // namespace hilo

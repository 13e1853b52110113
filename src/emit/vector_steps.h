// Steps of vectors that take fewer in another way. Private to `emit`.
#pragma once

#include <llvm/IR/Function.h>

namespace llvm {
class TargetMachine;
}

namespace hilo {

// After loops have become vector code: steps for which the chip has an instruction of its own, or
// which are sooner done by others. The values are the same.
void shorten_vector_steps(llvm::Function& function, const llvm::TargetMachine& machine,
                          unsigned register_bits);

}  // namespace hilo

// Rounding of vectors of f32 to bf16 where the chip has an instruction for it. Private to `emit`.
#pragma once

#include <llvm/IR/Function.h>

namespace llvm {
class TargetMachine;
}

namespace hilo {

// After loops have become vector code: what round_to_bf16() wrote in six steps becomes one. The
// instruction takes subnormal numbers as zeros, so that only results of arithmetic, which are none,
// are rounded by it. Bits are the same.
void use_bf16_instructions(llvm::Function& function, const llvm::TargetMachine& machine);

}  // namespace hilo

// Rounding of vectors of f32 to bf16 in fewer steps. Private to `emit`.
#pragma once

#include <llvm/IR/Function.h>

namespace llvm {
class TargetMachine;
}

namespace hilo {

// After loops have become vector code: what round_to_bf16() wrote in seven steps becomes one. The
// instruction takes subnormal numbers as zeros, so that only results of arithmetic, which are none,
// are rounded by it. On other chips the three steps that keep a NaN are left out where NaN comes
// from bf16 alone: its low half is zero, so that the sum leaves it as it is. Bits are the same.
void shorten_bf16_rounding(llvm::Function& function, const llvm::TargetMachine& machine);

}  // namespace hilo

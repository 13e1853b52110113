// Multiplication by powers of two. Private to `emit`.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/Target/TargetMachine.h>

namespace hilo {

// After loops have become vector code: what is multiplied by 2^floor(n), n an f32, by ldexp, is so
// by the instruction of AVX-512 that takes n as it is. The values are the same.
void scale_by_floats(llvm::Function& function, const llvm::TargetMachine& machine);

}  // namespace hilo

// Constants that are operands in memory. Private to `emit`.
#pragma once

namespace llvm {
class Function;
class TargetMachine;
}  // namespace llvm

namespace hilo {

// After loops have become vector code: where a function computes with more constants than AVX2 has
// registers for, they are read from memory as whole vectors. LLVM keeps the numbers of such
// constants as scalars and spreads each into a register before it is used, which is a step and
// often a copy more; a whole vector is an operand of the instruction that needs it. AVX-512 spreads
// scalars in the instruction itself. The values are the same.
void keep_constants_as_vectors(llvm::Function& function, const llvm::TargetMachine& machine);

}  // namespace hilo

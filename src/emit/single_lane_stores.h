// Private to `emit`.
#pragma once

namespace llvm {
class Function;
}

namespace hilo {

// A masked store of one lane becomes a store of its element. From one of narrowed lanes (`trunc`)
// LLVM 22 makes a store of as many bits as the lane had before, where the chip has AVX-512: over
// the elements behind it.
void store_single_lanes(llvm::Function& function);

}  // namespace hilo

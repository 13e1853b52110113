// How vectors are stored. Those of results that no cache holds go past the caches, so that a line
// is not read before it is overwritten: 2x + 1 over 2^26 elements moves two thirds of the bytes.
// Those that are read again soon are stored whole. Private to `emit`.
#pragma once

#include <llvm/IR/Function.h>

namespace hilo {

// Bytes of a result that last-level caches are taken to lose before somebody reads it.
constexpr int64_t beyond_caches = 1 << 25;

// The function stores runs of so many elements side by side, each beginning at a multiple of them.
void set_runs(llvm::Function& function, int64_t elements);
// After loops have become vector code: what is_beyond_caches and has_whole_runs is stored past the
// caches. Does nothing where the chip has no fence for such stores. register_bits: of the chip's
// vectors.
void make_stores_non_temporal(llvm::Function& function, uint64_t register_bits);
// A vector of which some lanes are what is there already: LLVM would store the others under a mask,
// and a load behind that waits until the memory has them.
void store_whole(llvm::Function& function);

}  // namespace hilo

// Prefetches of large arrays that are read from their beginning to their end. Private to `emit`.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/PassManager.h>

namespace hilo {

// Bytes that are on their way from memory at once.
constexpr int64_t fetched_ahead = 4096;

// After loops have become vector code: vectors of KernelHints::large_arrays that a loop reads one
// after the other are asked for some way before they are read. A processor looks ahead of such
// reads by itself, but not from one page of memory to the next, and not while a row that was read
// is worked on further: that is when the next row is fetched. `processor` has LLVM's name.
void prefetch_large_arrays(llvm::Function& function, llvm::FunctionAnalysisManager& functions,
                           llvm::StringRef processor);

}  // namespace hilo

// What the emitter knows of a kernel's function and LLVM's analyses would not find. Private to
// `emit`.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/Function.h>

#include <vector>

namespace hilo {

// What the inner loops of a function are over, which decides the passes that it goes through.
enum class LoopsOver : uint8_t {
  Elements,
  Positions,  // elements that all arrays share, a whole number of vectors
  Vectors,    // there already
  Windows,    // and elements between partition points, whose bounds say what is read
  // Rows of a few elements in straight code, the vectors of which are along them, or across.
  AlongRows,
  AcrossRows,
  FlattenedRows,  // by index tables
};

struct KernelHints {
  LoopsOver loops_over = LoopsOver::Elements;
  // There are loops over the lanes of a row, in arrays of the frame.
  bool has_accumulators = false;
  // Stores are runs of elements side by side, each a whole number of vectors from a multiple of
  // one on.
  bool has_whole_runs = false;
  // It writes nothing but results that no cache holds, to arrays aligned to 64 bytes.
  bool is_beyond_caches = false;
  // The processor gathers vectors of 32 bits sooner than it reads the single elements.
  bool has_quick_gathers = false;
  std::vector<unsigned> large_arrays;  // parameters of which each fills a second cache
};

// Kept with the function, as metadata: so they are part of what the code cache hashes.
KernelHints hints_of(const llvm::Function& function);
void change_hints(llvm::Function& function, llvm::function_ref<void(KernelHints&)> change);
inline void set_accumulators(llvm::Function& function) {
  change_hints(function, [](KernelHints& hints) { hints.has_accumulators = true; });
}

}  // namespace hilo

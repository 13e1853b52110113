// Indices that follow from a loop's counter alone, looked up in tables. Private to `emit`.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/PassManager.h>

namespace hilo {

// Before loops become vectors: in a loop of a known number of iterations, each integer
// u + t(counter), where u is the same in all of them, is read of a table of t that is made here,
// and arrays are read there by gathers: those where u is the same in all rounds of the loop around
// it once, before that loop, into the frame. So a flat loop over places of several dimensions
// divides nothing. Sums, differences and products with constants have a u; what else is done to
// integers must follow from the counter and constants.
struct IndexTables : llvm::PassInfoMixin<IndexTables> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

// Iterations of such a loop: more have no tables.
inline constexpr int64_t max_table_entries = 4096;

}  // namespace hilo

// Accumulators of a row that is reduced by lanes, promoted to registers. Private to `emit`.
#pragma once

#include <llvm/IR/PassManager.h>

#include "emit/kernel_hints.h"

namespace hilo {

// Of a function with KernelHints::has_accumulators: short loops over the lanes, vectorised already,
// become straight code, so that the lanes stay in registers from one piece of the row to the next:
// through memory each piece would wait for what the one before it stored.
struct PromoteAccumulators : llvm::PassInfoMixin<PromoteAccumulators> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace hilo

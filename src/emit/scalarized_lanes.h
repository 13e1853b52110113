// Loops whose loads are scalarised: their lanes are read one by one. Private to `emit`.
#pragma once

#include <llvm/IR/PassManager.h>

namespace llvm {
class Loop;
class ScalarEvolution;
class SCEVAddRecExpr;
class Value;
}  // namespace llvm

namespace hilo {

// The line of places that rounds of the loop go along. Null where they lie elsewhere each.
const llvm::SCEVAddRecExpr* line_of(const llvm::Loop& loop, llvm::Value* place,
                                    llvm::ScalarEvolution& evolution);

// Elements that lie far apart are read lane by lane: no instruction gathers narrow ones, and those
// of AVX-512 for f32 take as long. That is straight code in which the time to compile grows faster
// than the number of lanes, so that a loop which reads many has few lanes (f16 [48,7,23], joined
// with its double and transposed, with AVX-512: compiled in 208 and 20 ms). LoopVectorize would
// make of others none, and that is slow where numbers are converted (f16 [48,7,23] transposed: 25
// and 5 us). Loops that compute much of each stay as wide as they are. Stands before LoopVectorize.
struct ScalarizedLanes : llvm::PassInfoMixin<ScalarizedLanes> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace hilo

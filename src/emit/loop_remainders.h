// What is left of a loop when its vectors are full. Private to `emit`.
#pragma once

#include <llvm/IR/PassManager.h>

namespace hilo {

// Instructions of long bodies: where all elements have masks, and where masked stores take tens of
// cycles.
inline constexpr size_t body_under_masks = 48, body_under_slow_masks = 128;

// Asks the vectoriser to compute the last elements of long loop bodies as a vector with a mask,
// where the chip has masks for all element types (AVX2, of 32 and 64 bits: of very long bodies over
// these; not where what would be gathered is read element by element), instead of writing the body
// once more for single elements: that takes as long to compile and, in short arrays, as long to
// run. Short bodies keep their rest, because the mask would cost them more than it saves. So do, on
// any chip, loops of less than 16 rounds over a whole small array or over sums in the frame, which
// would otherwise be read through masks as soon as they are stored so (the largest of 3 x 3 places
// of 10 features: 54 us, without masks 20; AVX2: 93 and 23). Where masks are slow or lacking, all
// loops of 5 to 15 rounds are vectors and a rest (rows of 10 less their means 169 us, so 39).
struct LoopRemainders : llvm::PassInfoMixin<LoopRemainders> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace hilo

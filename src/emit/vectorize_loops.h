// Loops over elements become loops over vectors of them. Private to `emit`.
#pragma once

#include <llvm/IR/PassManager.h>

#include <optional>

#include "emit/loop_vectorizer.h"

namespace hilo {

// Elements of a vector of the loop, where all it does has an instruction over vectors. What is
// computed in double for the sake of f32 takes two registers for each vector: two chains of steps
// that do not wait for each other.
std::optional<unsigned> vector_width(const llvm::Loop& loop, unsigned register_bits);

// Takes loops whose body is one block, which carry nothing but a counter, and whose iterations read
// and write lines of elements, or read tables. Where the counter is no whole number of vectors, the
// last one makes some elements a second time, if no iteration reads what is written, or short
// bodies have a rest: one vector under a mask, where the chip has them, or a loop over elements.
// Each instruction becomes one over vectors, where it stands, so that the time is linear in the
// body: LoopVectorize, which has the loops that are left, plans and weighs first, and takes longer
// than linearly. The values are the same.
struct VectorizeLoops : llvm::PassInfoMixin<VectorizeLoops> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace hilo

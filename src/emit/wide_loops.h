// Loops over elements become loops over vectors of them. Private to `emit`.
#pragma once

#include <llvm/IR/PassManager.h>

#include <optional>

namespace llvm {
class LoadInst;
class Loop;
class TargetTransformInfo;
}  // namespace llvm

namespace hilo {

// Elements of a vector of the loop, where all it does has an instruction over vectors. What is
// computed in double for the sake of f32 takes two registers for each vector: two chains of steps
// that do not wait for each other.
std::optional<unsigned> vector_width(const llvm::Loop& loop, unsigned register_bits);
unsigned register_bits(const llvm::TargetTransformInfo& target);

// Says that the load reads a table of 16 bits at a place of 16 bits that is computed, and whether
// the table is a whole number of pairs.
void mark_lookup(llvm::LoadInst& load, bool has_pairs);

// Takes loops whose body is one block, which carry nothing but a counter, and whose iterations read
// and write lines of elements, or read tables. The counter is of a whole number of vectors, or ends
// with a vector that makes some elements a second time: where no iteration reads what is written.
// Each instruction becomes one over vectors, where it stands, so that the time is linear in the
// body: LoopVectorize, which has the loops that are left, plans and weighs first, and takes longer
// than linearly. The values are the same.
struct WideLoops : llvm::PassInfoMixin<WideLoops> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace hilo

#include "emit/masked_remainders.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include <algorithm>

namespace hilo {
namespace {

constexpr size_t long_body = 48;  // instructions

// Elements that do not depend on each other: nothing is carried but the counter.
bool is_long_and_free(const llvm::Loop& loop) {
  if (loop.getNumBlocks() != 1) return false;
  const llvm::BasicBlock& body = *loop.getHeader();
  return body.size() >= long_body && std::ranges::distance(body.phis()) == 1 &&
         std::ranges::none_of(body, [](const llvm::Instruction& instruction) {
           return llvm::isa<llvm::CallBase>(instruction) &&
                  !llvm::isa<llvm::IntrinsicInst>(instruction);
         });
}

// Reads or writes elements that lie some way apart. Under a mask that would be element by element,
// and LoopVectorize would rather make no vectors.
bool strides(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  return std::ranges::any_of(*loop.getHeader(), [&](llvm::Instruction& instruction) {
    llvm::Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
    if (!pointer) return false;
    const auto* place = llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution.getSCEV(pointer));
    if (!place || place->getLoop() != &loop) return false;
    const auto* step = llvm::dyn_cast<llvm::SCEVConstant>(place->getStepRecurrence(evolution));
    const int64_t size = llvm::getLoadStoreType(&instruction)->getScalarSizeInBits() / 8;
    return step && step->getAPInt().getSExtValue() != size;
  });
}

}  // namespace

llvm::PreservedAnalyses MaskedRemainders::run(llvm::Function& function,
                                              llvm::FunctionAnalysisManager& analyses) {
  const auto& target = analyses.getResult<llvm::TargetIRAnalysis>(function);
  llvm::Type* narrowest = llvm::Type::getInt8Ty(function.getContext());
  if (!target.isLegalMaskedLoad(narrowest, llvm::Align(1), 0) ||
      !target.isLegalMaskedStore(narrowest, llvm::Align(1), 0))
    return llvm::PreservedAnalyses::all();
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  for (llvm::Loop* loop : analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder())
    if (is_long_and_free(*loop) && !strides(*loop, evolution))
      llvm::addStringMetadataToLoop(loop, "llvm.loop.vectorize.predicate.enable", 1);
  return llvm::PreservedAnalyses::all();
}

}  // namespace hilo

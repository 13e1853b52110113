#include "emit/promote_accumulators.h"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/Transforms/Utils/UnrollLoop.h>

#include <algorithm>

namespace hilo {
namespace {

constexpr size_t longest_body = 40;  // instructions
constexpr unsigned max_rounds = 8;

// A body without branches inside another loop that stores vectors to the frame.
bool is_over_lanes(const llvm::Loop& loop) {
  if (!loop.isInnermost() || loop.getNumBlocks() != 1 || !loop.getParentLoop()) return false;
  const llvm::BasicBlock& body = *loop.getHeader();
  return body.size() <= longest_body &&
         std::ranges::any_of(body, [](const llvm::Instruction& step) {
           const auto* store = llvm::dyn_cast<llvm::StoreInst>(&step);
           return store && store->getValueOperand()->getType()->isVectorTy() &&
                  llvm::isa<llvm::AllocaInst>(
                      llvm::getUnderlyingObject(store->getPointerOperand()));
         });
}

}  // namespace

llvm::PreservedAnalyses PromoteAccumulators::run(llvm::Function& function,
                                                 llvm::FunctionAnalysisManager& analyses) {
  if (!hints_of(function).has_accumulators) return llvm::PreservedAnalyses::all();
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  bool changed = false;
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    if (!is_over_lanes(*loop)) continue;
    const unsigned rounds = evolution.getSmallConstantTripCount(loop);
    if (rounds < 2 || rounds > max_rounds) continue;
    llvm::UnrollLoopOptions options = {};
    options.Count = rounds;
    options.Force = true;
    const auto result = llvm::UnrollLoop(
        loop, options, &loops, &evolution,
        &analyses.getResult<llvm::DominatorTreeAnalysis>(function),
        &analyses.getResult<llvm::AssumptionAnalysis>(function),
        &analyses.getResult<llvm::TargetIRAnalysis>(function),
        &analyses.getResult<llvm::OptimizationRemarkEmitterAnalysis>(function), false);
    changed |= result != llvm::LoopUnrollResult::Unmodified;
  }
  return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace hilo

#include "emit/loop_remainders.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include <algorithm>

#include "emit/kernel_hints.h"
#include "emit/loop_limits.h"
#include "emit/scalarized_lanes.h"

namespace hilo {
namespace {

// LoopVectorize has masks for all lanes of a loop with fewer rounds; lanes that every chip has.
constexpr unsigned short_trip_count = 16;
constexpr unsigned narrow = KernelLimits::narrow_lanes;

// But the counter.
bool carries_nothing(const llvm::Loop& loop) {
  return std::ranges::distance(loop.getHeader()->phis()) == 1;
}

bool masks_all(const llvm::TargetTransformInfo& target, llvm::Type* element) {
  return target.isLegalMaskedLoad(element, llvm::Align(1), 0) &&
         target.isLegalMaskedStore(element, llvm::Align(1), 0);
}

bool masks_all(const llvm::TargetTransformInfo& target, llvm::BasicBlock& body) {
  return std::ranges::all_of(body, [&](llvm::Instruction& step) {
    return !llvm::getLoadStorePointerOperand(&step) ||
           masks_all(target, llvm::getLoadStoreType(&step));
  });
}

// Elements that do not depend on each other.
bool is_long_and_free(const llvm::Loop& loop, size_t length) {
  if (loop.getNumBlocks() != 1) return false;
  const llvm::BasicBlock& body = *loop.getHeader();
  return body.size() >= length && carries_nothing(loop) &&
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
    const auto* line = line_of(loop, pointer, evolution);
    if (!line) return false;
    const auto* step = llvm::dyn_cast<llvm::SCEVConstant>(line->getStepRecurrence(evolution));
    const int64_t size = llvm::getLoadStoreType(&instruction)->getScalarSizeInBits() / 8;
    return step && step->getAPInt().getSExtValue() != size;
  });
}

// Reads elements at places that follow from others where the chip does not gather: under a mask
// element by element, too.
bool reads_far(const llvm::Loop& loop, llvm::ScalarEvolution& evolution,
               const llvm::TargetTransformInfo& target) {
  return std::ranges::any_of(*loop.getHeader(), [&](llvm::Instruction& instruction) {
    auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    if (!load || loop.isLoopInvariant(load->getPointerOperand())) return false;
    return !line_of(loop, load->getPointerOperand(), evolution) &&
           !target.isLegalMaskedGather(load->getType(), load->getAlign());
  });
}

// Sums and rows that are read again soon.
bool uses_frame(const llvm::Loop& loop) {
  return std::ranges::any_of(*loop.getHeader(), [](const llvm::Instruction& instruction) {
    const llvm::Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
    return pointer && llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer));
  });
}

// A function that goes round so seldom writes a few elements, which the next one reads at once:
// what was stored under a mask, or as other vectors, would first have to reach the cache. So the
// rest of a few vectors is element by element.
void leave_rest(llvm::Loop& loop, unsigned rounds) {
  const bool fits = rounds == narrow || rounds == 2 * narrow;
  if (rounds <= 1 || rounds >= short_trip_count || fits || !carries_nothing(loop)) return;
  const bool has_vectors = rounds > narrow;
  llvm::addStringMetadataToLoop(&loop, "llvm.loop.vectorize.enable", has_vectors ? 1 : 0);
  if (has_vectors) llvm::addStringMetadataToLoop(&loop, "llvm.loop.vectorize.width", narrow);
}

// LoopVectorize would use masks, which are slow where not all elements have them, or make nothing.
void leave_rest_without_masks(llvm::Loop& loop, unsigned rounds, llvm::ScalarEvolution& evolution) {
  if (rounds <= narrow || rounds >= short_trip_count || rounds % (2 * narrow) == 0) return;
  if (loop.getNumBlocks() != 1 || !carries_nothing(loop) || strides(loop, evolution)) return;
  const bool is_wide = rounds > 2 * narrow && rounds % (2 * narrow) < narrow;
  llvm::addStringMetadataToLoop(&loop, "llvm.loop.vectorize.enable", 1);
  llvm::addStringMetadataToLoop(&loop, "llvm.loop.vectorize.width", is_wide ? 2 * narrow : narrow);
}

}  // namespace

llvm::PreservedAnalyses LoopRemainders::run(llvm::Function& function,
                                            llvm::FunctionAnalysisManager& analyses) {
  const auto& target = analyses.getResult<llvm::TargetIRAnalysis>(function);
  const bool has_masks = masks_all(target, llvm::Type::getInt8Ty(function.getContext()));
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  const bool has_accumulators = hints_of(function).has_accumulators;  // soon in registers
  for (llvm::Loop* loop : analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder()) {
    const bool is_masked = has_masks ? is_long_and_free(*loop, body_under_masks)
                                     : is_long_and_free(*loop, body_under_slow_masks) &&
                                           masks_all(target, *loop->getHeader()) &&
                                           !reads_far(*loop, evolution, target);
    if (is_masked && !strides(*loop, evolution))
      llvm::addStringMetadataToLoop(loop, "llvm.loop.vectorize.predicate.enable", 1);
    else if (loop->isInnermost() &&
             (loop->isOutermost() || (!has_accumulators && uses_frame(*loop))))
      leave_rest(*loop, evolution.getSmallConstantTripCount(loop));
    else if (!has_masks && loop->isInnermost())
      leave_rest_without_masks(*loop, evolution.getSmallConstantTripCount(loop), evolution);
  }
  return llvm::PreservedAnalyses::all();
}

}  // namespace hilo

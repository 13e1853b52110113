#include "emit/vectorize_loops.h"

#include <llvm/Analysis/VectorUtils.h>

#include <algorithm>
#include <bit>

#include "emit/loop_limits.h"
#include "emit/split_divisions.h"
#include "emit/table_reads.h"

namespace hilo {
namespace {

// Long bodies have other steps to fill the waiting with, and their values no room in registers.
constexpr size_t long_body = 1000;  // instructions

// Lanes of a row that fills less than a register.
constexpr unsigned fewest_of_row = KernelLimits::narrow_lanes;

std::optional<LoopVectorizer> fitting(llvm::Loop& loop, const LoopCounter& counter, unsigned lanes,
                                      const llvm::TargetTransformInfo& target) {
  std::optional<LoopVectorizer> out(std::in_place, loop, counter, lanes, target);
  if (!out->fits()) out.reset();
  return out;
}

// Of up to so many lanes.
std::optional<LoopVectorizer> row_of_parts(llvm::Loop& loop, const LoopCounter& counter,
                                           unsigned lanes,
                                           const llvm::TargetTransformInfo& target) {
  for (; lanes >= fewest_of_row; lanes /= 2) {
    std::optional<LoopVectorizer> out = fitting(loop, counter, lanes, target);
    if (out && out->is_row_of_parts()) return out;
  }
  return std::nullopt;
}

// With the fastest number of lanes for a loop whose numbers fill a register by so many.
std::optional<LoopVectorizer> fastest(llvm::Loop& loop, const LoopCounter& counter, unsigned lanes,
                                      const llvm::TargetTransformInfo& target) {
  std::optional<LoopVectorizer> out = fitting(loop, counter, lanes, target);
  if (!out) return row_of_parts(loop, counter, lanes / 2, target);
  if (out->has_pairs_for_doubles() && lanes > 2) return fitting(loop, counter, lanes / 2, target);
  const bool divides = divides_by_one(loop, register_bits(target));
  if (out->has_pairs_for_doubles() || (!out->waits() && !divides)) return out;
  std::optional<LoopVectorizer> twice = fitting(loop, counter, 2 * lanes, target);
  return twice && !twice->overlaps() && !twice->has_rest() ? std::move(twice) : std::move(out);
}

}  // namespace

std::optional<unsigned> vector_width(const llvm::Loop& loop, unsigned register_bits) {
  if (loop.getNumBlocks() != 1) return std::nullopt;
  unsigned stored = 8, computed = 8;
  for (const llvm::Instruction& step : *loop.getHeader()) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&step);
    if (call && !llvm::isTriviallyVectorizable(call->getIntrinsicID())) return std::nullopt;
    if (step.isIntDivRem()) return std::nullopt;
    const llvm::Type* type = step.getType();
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&step); load && !is_table(*load))
      stored = std::max(stored, type->getScalarSizeInBits());
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&step))
      stored = std::max(stored, store->getValueOperand()->getType()->getScalarSizeInBits());
    if (type->isFloatingPointTy()) computed = std::max(computed, type->getScalarSizeInBits());
  }
  const bool is_long = loop.getHeader()->size() > long_body;
  const unsigned held = std::max(stored, is_long ? computed : std::min(computed, 32U));
  return register_bits / held;
}

llvm::PreservedAnalyses VectorizeLoops::run(llvm::Function& function,
                                            llvm::FunctionAnalysisManager& analyses) {
  const auto& target = analyses.getResult<llvm::TargetIRAnalysis>(function);
  bool changed = false, has_rests = false;
  for (llvm::Loop* loop : analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder()) {
    if (loop->getNumBlocks() != 1 || !loop->getLoopPreheader()) continue;
    const unsigned lanes = vector_width(*loop, register_bits(target)).value_or(1);
    if (lanes < 2 || !std::has_single_bit(lanes)) continue;
    const auto counter = find_counter(*loop);
    if (!counter) continue;
    std::optional<LoopVectorizer> vectorizer = fastest(*loop, *counter, lanes, target);
    if (!vectorizer) continue;
    vectorizer->vectorize();
    has_rests |= vectorizer->has_rest();
    changed = true;
  }
  if (!changed) return llvm::PreservedAnalyses::all();
  if (has_rests) return llvm::PreservedAnalyses::none();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

}  // namespace hilo

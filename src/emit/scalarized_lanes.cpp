#include "emit/scalarized_lanes.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include <algorithm>
#include <bit>

#include "emit/loop_limits.h"
#include "emit/loop_vectorizer.h"

namespace hilo {
namespace {

// Of the narrowest elements that are gathered from computed places. Chips with registers of up to
// so many bits have few enough lanes of them, and where results are scattered, too, all is as fast
// without vectors.
constexpr unsigned gathered_bits = 32;
constexpr unsigned narrow_register_bits = middle_vector_bits;
// Elements up to so far apart LoopVectorize reads as vectors of neighbours.
constexpr int64_t max_stride = 8;
// Elements that are read alone in a round of the loop, and lanes of such a round.
constexpr unsigned max_scalar_loads = 48;
constexpr unsigned fewest_lanes = KernelLimits::narrow_lanes;
// Steps of floats for each: more take longer than reading. Of more narrow integers than so many,
// which need no conversion, a round has as many lanes as of 32 bits: all of 8 bits are a screenful
// of code for each load (compares of pairs, pred [500,7,7]: compiled in 180 and 31 ms, as fast).
constexpr int64_t max_steps = 8, max_integers = 8;
// Elements that go into one result, all of integers but what ends it: vectors save nothing (rows of
// 24 s32 in 200 lines of 33: compiled in 21 and 14 ms, as fast).
constexpr int64_t min_folded = 17, min_folded_per_result = 8;

// What a load or store moves, one lane after the other, in bits; else 0.
unsigned bits_alone(const llvm::Loop& loop, llvm::Instruction& step,
                    llvm::ScalarEvolution& evolution) {
  llvm::Value* place = llvm::getLoadStorePointerOperand(&step);
  if (!place || loop.isLoopInvariant(place)) return 0;
  const unsigned bits = llvm::getLoadStoreType(&step)->getScalarSizeInBits();
  const auto* line = line_of(loop, place, evolution);
  if (!line) return bits < gathered_bits ? bits : 0;
  const auto* apart = llvm::dyn_cast<llvm::SCEVConstant>(line->getStepRecurrence(evolution));
  return !apart || apart->getAPInt().abs().sgt(max_stride * bits / 8) ? bits : 0;
}

struct Alone {
  int64_t narrow = 0, gathered = 0;  // loads
  bool writes = false;
  int64_t results = 0;  // wherever they are stored
};

Alone find_alone(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  Alone out;
  for (llvm::Instruction& step : *loop.getHeader()) {
    if (llvm::isa<llvm::StoreInst>(step)) ++out.results;
    const unsigned bits = bits_alone(loop, step, evolution);
    if (bits == 0) continue;
    if (llvm::isa<llvm::StoreInst>(step)) out.writes = true;
    else if (bits <= gathered_bits) ++(bits < gathered_bits ? out.narrow : out.gathered);
  }
  return out;
}

// Nothing where it has as many as it likes. A loop of few rounds is one vector, of which loops
// around it need not read again what stays.
std::optional<unsigned> lanes_of(const llvm::Loop& loop, unsigned register_bits,
                                 llvm::ScalarEvolution& evolution) {
  const unsigned rounds = evolution.getSmallConstantTripCount(&loop);
  if (rounds > 0 && rounds <= register_bits / gathered_bits) return std::nullopt;
  const Alone found = find_alone(loop, evolution);
  const bool are_gathered = register_bits > narrow_register_bits && !found.writes;
  const int64_t alone = found.narrow + (are_gathered ? found.gathered : 0);
  const auto floats = std::ranges::count_if(*loop.getHeader(), [](llvm::Instruction& step) {
    return step.getType()->isFloatingPointTy();
  });
  if (alone * register_bits <= max_scalar_loads * gathered_bits || floats > max_steps * alone)
    return std::nullopt;
  if (alone >= min_folded && found.results * min_folded_per_result <= alone && 2 * floats < alone)
    return 1;
  if (floats == 0 && alone > max_integers) return register_bits / gathered_bits;
  return std::max(fewest_lanes, std::bit_floor(max_scalar_loads / static_cast<unsigned>(alone)));
}

}  // namespace

const llvm::SCEVAddRecExpr* line_of(const llvm::Loop& loop, llvm::Value* place,
                                    llvm::ScalarEvolution& evolution) {
  const auto* line = llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution.getSCEV(place));
  return line && line->getLoop() == &loop ? line : nullptr;
}

llvm::PreservedAnalyses ScalarizedLanes::run(llvm::Function& function,
                                             llvm::FunctionAnalysisManager& analyses) {
  const unsigned bits = register_bits(analyses.getResult<llvm::TargetIRAnalysis>(function));
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  for (llvm::Loop* loop : analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder())
    if (loop->isInnermost() && loop->getNumBlocks() == 1)
      if (const auto lanes = lanes_of(*loop, bits, evolution))
        llvm::addStringMetadataToLoop(loop, "llvm.loop.vectorize.width", *lanes);
  return llvm::PreservedAnalyses::all();
}

}  // namespace hilo

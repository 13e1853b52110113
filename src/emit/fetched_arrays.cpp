#include "emit/fetched_arrays.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace hilo {
namespace {

constexpr uint64_t distance = 1024;   // bytes ahead
constexpr int64_t long_piece = 4096;  // bytes, of which few are fetched for nothing behind its end
// Bytes of an array that a round of the loop reads.
constexpr int64_t shortest_step = 32, longest_step = 512;
constexpr int64_t line = 64;  // bytes that are fetched at once

// The large array that is read, or null.
const llvm::Argument* large_array(llvm::LoadInst& load) {
  const auto* array =
      llvm::dyn_cast<llvm::Argument>(llvm::getUnderlyingObject(load.getPointerOperand()));
  return array && array->hasAttribute(large_array_attribute) ? array : nullptr;
}

// Whether the loop, with those around it, reads a long piece of memory from its beginning on.
bool goes_along(llvm::LoadInst& load, const llvm::Loop* loop, llvm::ScalarEvolution& known) {
  const llvm::SCEV* place = known.getSCEV(load.getPointerOperand());
  for (int64_t read = 0; loop; loop = loop->getParentLoop()) {
    const auto* along = llvm::dyn_cast<llvm::SCEVAddRecExpr>(place);
    if (!along || along->getLoop() != loop || !along->isAffine()) return false;
    const auto* step = llvm::dyn_cast<llvm::SCEVConstant>(along->getStepRecurrence(known));
    if (!step) return false;
    const int64_t bytes = step->getAPInt().getSExtValue();
    if (read == 0 ? bytes < shortest_step || bytes > longest_step : bytes != read) return false;
    const int64_t rounds = known.getSmallConstantTripCount(loop);   // 0: not always so many
    const int64_t most = known.getSmallConstantMaxTripCount(loop);  // 0: any number
    read = bytes * rounds;
    if (most == 0 || bytes * most >= long_piece) return true;
    if (rounds == 0) return false;
    place = along->getStart();
  }
  return false;
}

struct Read {
  int64_t offset;  // in bytes from the first read of the same array
  llvm::LoadInst* load;
};

// One read for each line of a piece of an array, or none where a round reads several pieces.
std::vector<llvm::LoadInst*> lines_of(std::span<llvm::LoadInst* const> loads,
                                      llvm::ScalarEvolution& known) {
  const auto place = [&](llvm::LoadInst* load) { return known.getSCEV(load->getPointerOperand()); };
  std::vector<Read> reads;
  for (llvm::LoadInst* load : loads) {
    const auto* apart =
        llvm::dyn_cast<llvm::SCEVConstant>(known.getMinusSCEV(place(load), place(loads.front())));
    if (!apart || apart->getAPInt().abs().sgt(longest_step)) return {};
    reads.push_back({apart->getAPInt().getSExtValue(), load});
  }
  std::ranges::stable_sort(reads, {}, &Read::offset);
  std::vector<llvm::LoadInst*> lines;
  std::optional<int64_t> last;
  for (const Read& read : reads)
    if (!last || read.offset - *last >= line) {
      lines.push_back(read.load);
      last = read.offset;
    }
  return lines;
}

// Vectors, or the single elements of such, that the loop reads of large arrays, of each from its
// beginning on: not those of several rows of one at once.
std::vector<llvm::LoadInst*> reads_of(const llvm::Loop& loop, llvm::ScalarEvolution& known) {
  std::map<const llvm::Argument*, std::vector<llvm::LoadInst*>> reads;
  for (llvm::BasicBlock* block : loop.blocks())
    for (llvm::Instruction& step : *block)
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&step))
        if (const llvm::Argument* array = large_array(*load);
            array && goes_along(*load, &loop, known))
          reads[array].push_back(load);
  std::vector<llvm::LoadInst*> out;
  for (const auto& [array, loads] : reads) {
    const std::vector<llvm::LoadInst*> lines = lines_of(loads, known);
    out.insert(out.end(), lines.begin(), lines.end());
  }
  return out;
}

void fetch(llvm::LoadInst& load) {
  llvm::IRBuilder<> b(&load);
  constexpr uint32_t to_read = 0, into_all_caches = 3, data = 1;
  llvm::Value* ahead = b.CreateConstGEP1_64(b.getInt8Ty(), load.getPointerOperand(), distance);
  b.CreateIntrinsic(llvm::Intrinsic::prefetch, {ahead->getType()},
                    {ahead, b.getInt32(to_read), b.getInt32(into_all_caches), b.getInt32(data)});
}

}  // namespace

void fetch_large_arrays(llvm::Function& function, llvm::FunctionAnalysisManager& functions) {
  if (std::ranges::none_of(function.args(), [](const llvm::Argument& argument) {
        return argument.hasAttribute(large_array_attribute);
      }))
    return;
  auto& known = functions.getResult<llvm::ScalarEvolutionAnalysis>(function);
  for (const llvm::Loop* loop :
       functions.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder())
    if (loop->isInnermost())
      for (llvm::LoadInst* load : reads_of(*loop, known)) fetch(*load);
}

}  // namespace hilo

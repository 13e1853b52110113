#include "emit/prefetch.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "emit/cache_sizes.h"
#include "emit/kernel_hints.h"
#include "emit/loop_limits.h"

namespace hilo {
namespace {

// Bytes ahead. So that as many lines are on their way as could be, loops that write fetch `far`
// ahead, which the arrays that they read share, down to `near` (a table's values of 2^25 bf16 8.4
// and 7.3 ms), and loops that only read fetch from both places. Processors of the Zen family look
// ahead of the latter by themselves and are hindered (a sum of 64 MB 17 and 21 GB/s).
constexpr uint64_t near = 1024;
constexpr uint64_t far = fetched_ahead;
// Bytes, of which few are fetched for nothing behind their end: near, and far ahead.
constexpr int64_t long_run = 4096, very_long_run = 1 << 16;
constexpr int64_t longest_step = 512;  // bytes of an array that a round of the loop reads
// What a round reads at least where it reads single elements: loops over one are no faster for it.
constexpr int64_t shortest_step_of_elements = 32;

// The large array that is read, or null.
const llvm::Argument* large_array(llvm::LoadInst& load, const KernelHints& hints) {
  const auto* array =
      llvm::dyn_cast<llvm::Argument>(llvm::getUnderlyingObject(load.getPointerOperand()));
  return array && std::ranges::count(hints.large_arrays, array->getArgNo()) > 0 ? array : nullptr;
}

// By how many bytes a place moves with each round of the loop; null where that varies.
std::optional<int64_t> bytes_of_round(const llvm::SCEV* place, const llvm::Loop& loop,
                                      llvm::ScalarEvolution& known) {
  const auto* along = llvm::dyn_cast<llvm::SCEVAddRecExpr>(place);
  if (!along || along->getLoop() != &loop || !along->isAffine()) return std::nullopt;
  const auto* step = llvm::dyn_cast<llvm::SCEVConstant>(along->getStepRecurrence(known));
  return step ? std::optional(step->getAPInt().getSExtValue()) : std::nullopt;
}

// Whether the loop, with those around it, reads a piece of memory from its beginning on that may be
// as long.
bool goes_along(llvm::LoadInst& load, const llvm::Loop* loop, int64_t piece,
                llvm::ScalarEvolution& known) {
  const llvm::SCEV* place = known.getSCEV(load.getPointerOperand());
  const int64_t shortest = load.getType()->isVectorTy() ? 1 : shortest_step_of_elements;
  for (int64_t read = 0; loop; loop = loop->getParentLoop()) {
    const auto bytes = bytes_of_round(place, *loop, known);
    if (!bytes) return false;
    if (read == 0 ? *bytes < shortest || *bytes > longest_step : *bytes != read) return false;
    const int64_t rounds = known.getSmallConstantTripCount(loop);   // 0: not always so many
    const int64_t most = known.getSmallConstantMaxTripCount(loop);  // 0: any number
    read = *bytes * rounds;
    if (most == 0 || *bytes * most >= piece) return true;
    if (rounds == 0) return false;
    place = llvm::cast<llvm::SCEVAddRecExpr>(place)->getStart();
  }
  return false;
}

struct Read {
  int64_t offset;  // in bytes from the first read of the same array
  llvm::LoadInst* load;
};

// The reads of a piece of an array, of single elements one for each line; none where a round reads
// several pieces. To fetch a line again for each of its vectors is faster than to do so once (sums
// of rows of s8 22 and 27 GB/s).
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
    if (!last || read.load->getType()->isVectorTy() || read.offset - *last >= cache_line) {
      lines.push_back(read.load);
      last = read.offset;
    }
  return lines;
}

bool reads(const llvm::Loop& loop, const llvm::Argument* array, const KernelHints& hints) {
  return std::ranges::any_of(loop.blocks(), [&](llvm::BasicBlock* block) {
    return std::ranges::any_of(*block, [&](llvm::Instruction& step) {
      auto* load = llvm::dyn_cast<llvm::LoadInst>(&step);
      return load && large_array(*load, hints) == array;
    });
  });
}

bool only_reads(const llvm::Loop& loop) {
  return std::ranges::none_of(loop.blocks(), [](const llvm::BasicBlock* block) {
    return std::ranges::any_of(
        *block, [](const llvm::Instruction& step) { return step.mayWriteToMemory(); });
  });
}

void fetch(llvm::LoadInst& load, uint64_t distance) {
  llvm::IRBuilder<> b(&load);
  constexpr uint32_t to_read = 0, into_all_caches = 3, data = 1;
  llvm::Value* ahead = b.CreateConstGEP1_64(b.getInt8Ty(), load.getPointerOperand(), distance);
  b.CreateIntrinsic(llvm::Intrinsic::prefetch, {ahead->getType()},
                    {ahead, b.getInt32(to_read), b.getInt32(into_all_caches), b.getInt32(data)});
}

// As if vectors that lie over those before them, to end with the row, went on behind it.
struct Unlimited : llvm::SCEVRewriteVisitor<Unlimited> {
  using SCEVRewriteVisitor::SCEVRewriteVisitor;
  const llvm::SCEV* visitSMinExpr(const llvm::SCEVSMinExpr* least) {
    for (const llvm::SCEV* each : least->operands())
      if (llvm::isa<llvm::SCEVAddRecExpr>(each)) return visit(each);
    return least;
  }
};

using Reads = std::map<const llvm::Argument*, std::vector<llvm::LoadInst*>>;  // by large array

// The innermost loops of a function.
class Loops {
 public:
  Loops(llvm::Function& function, const KernelHints& hints,
        llvm::FunctionAnalysisManager& functions)
      : hints_(hints),
        known_(functions.getResult<llvm::ScalarEvolutionAnalysis>(function)),
        order_(functions.getResult<llvm::DominatorTreeAnalysis>(function)) {
    for (const llvm::Loop* loop :
         functions.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder())
      if (loop->isInnermost()) innermost_.push_back(loop);
  }

  void fetch_reads(llvm::StringRef processor) {
    for (const llvm::Loop* loop : innermost_) {
      const bool reads_only = only_reads(*loop);
      if (reads_only && processor.starts_with("znver")) continue;
      const Reads reads = reads_of(*loop);
      for (const auto& [array, loads] : reads)
        for (llvm::LoadInst* load : loads) {
          const bool is_far = !reads_only && goes_along(*load, loop, very_long_run, known_);
          const uint64_t ahead = is_far ? std::max(near, far / reads.size()) : near;
          fetch(*load, later_row(*load, *loop).value_or(ahead));
          if (reads_only) fetch(*load, far);
        }
    }
  }

 private:
  // Vectors, or the single elements of such, that the loop reads of large arrays, of each from its
  // beginning on: not those of several rows of one at once.
  Reads reads_of(const llvm::Loop& loop) {
    Reads reads;
    for (llvm::BasicBlock* block : loop.blocks())
      for (llvm::Instruction& step : *block)
        if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&step))
          if (const llvm::Argument* array = large_array(*load, hints_);
              array && (goes_along(*load, &loop, long_run, known_) || later_row(*load, loop)))
            reads[array].push_back(load);
    for (auto& [array, loads] : reads) loads = lines_of(loads, known_);
    std::erase_if(reads, [](const auto& each) { return each.second.empty(); });
    return reads;
  }

  // Where an outer loop goes over rows, and an earlier one inside it has read the row already:
  // bytes to the same place of a row further on, which comes in while this one is worked on.
  std::optional<uint64_t> later_row(llvm::LoadInst& load, const llvm::Loop& loop) {
    const llvm::SCEV* place = Unlimited(known_).visit(known_.getSCEV(load.getPointerOperand()));
    const auto bytes = bytes_of_round(place, loop, known_);
    if (!bytes || *bytes <= 0 || *bytes > longest_step) return std::nullopt;
    const llvm::Loop* rows = loop.getOutermostLoop();
    std::optional<int64_t> row;
    while (const auto* along = llvm::dyn_cast<llvm::SCEVAddRecExpr>(place)) {
      if ((row = bytes_of_round(place, *rows, known_))) break;
      place = along->getStart();
    }
    const int64_t longest = cache_sizes(*load.getModule()).second / 16;  // which has several rows
    if (!row || *row <= 0 || *row > longest) return std::nullopt;
    const bool is_read = std::ranges::any_of(innermost_, [&](const llvm::Loop* other) {
      return other != &loop && rows->contains(other) &&
             order_.dominates(other->getHeader(), loop.getHeader()) &&
             reads(*other, large_array(load, hints_), hints_);
    });
    return is_read ? std::optional(llvm::alignTo(near, *row)) : std::nullopt;
  }

  const KernelHints& hints_;
  llvm::ScalarEvolution& known_;
  const llvm::DominatorTree& order_;
  std::vector<const llvm::Loop*> innermost_;
};

}  // namespace

void prefetch_large_arrays(llvm::Function& function, llvm::FunctionAnalysisManager& functions,
                           llvm::StringRef processor) {
  const KernelHints hints = hints_of(function);
  if (!hints.large_arrays.empty()) Loops(function, hints, functions).fetch_reads(processor);
}

}  // namespace hilo

#include "emit/table_reads.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/CodeGen/TargetSubtargetInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Support/KnownBits.h>
#include <llvm/Transforms/Utils/Local.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "emit/kernel_hints.h"
#include "emit/loop_limits.h"

namespace hilo {
namespace {

constexpr unsigned lanes = KernelLimits::widest_lanes;
constexpr unsigned lane_bits = std::countr_zero(lanes);

bool reads_table(const llvm::Function& function) {
  return std::ranges::any_of(llvm::instructions(function), [](const llvm::Instruction& step) {
    const llvm::Value* place = llvm::getLoadStorePointerOperand(&step);
    if (!place) return false;
    const auto* table = llvm::dyn_cast<llvm::GlobalVariable>(llvm::getUnderlyingObject(place));
    return table && table->isConstant();
  });
}

// Steps of floats for each element at a place that is read: more take longer than the gather.
constexpr int64_t min_floats_per_gather = 32;

// The place follows from what is read in the same block.
bool is_loaded_index(const llvm::Value* place, const llvm::BasicBlock& block) {
  std::vector<const llvm::Value*> left{place};
  std::set<const llvm::Value*> seen;
  while (!left.empty()) {
    const auto* step = llvm::dyn_cast<llvm::Instruction>(left.back());
    left.pop_back();
    if (!step || step->getParent() != &block || llvm::isa<llvm::PHINode>(step)) continue;
    if (llvm::isa<llvm::LoadInst>(step)) return true;
    if (seen.insert(step).second) left.insert(left.end(), step->op_begin(), step->op_end());
  }
  return false;
}

// Of loops that read at such places, each computes much of every element.
bool computes_much(const llvm::Function& function) {
  int64_t all = 0;
  for (const llvm::BasicBlock& block : function) {
    int64_t gathered = 0, floats = 0;
    for (const llvm::Instruction& step : block) {
      const llvm::Value* place = llvm::getLoadStorePointerOperand(&step);
      if (place) gathered += is_loaded_index(place, block) ? 1 : 0;
      else floats += step.getType()->isFloatingPointTy() ? 1 : 0;
    }
    if (floats < gathered * min_floats_per_gather) return false;
    all += gathered;
  }
  return all > 0;
}

// Null where it is no table of 16 f32.
const llvm::ConstantDataArray* numbers_of(const llvm::Value* array) {
  const auto* table = llvm::dyn_cast<llvm::GlobalVariable>(array);
  if (!table || !table->isConstant() || !table->hasInitializer()) return nullptr;
  const auto* numbers = llvm::dyn_cast<llvm::ConstantDataArray>(table->getInitializer());
  return numbers && numbers->getNumElements() == lanes && numbers->getElementType()->isFloatTy()
             ? numbers
             : nullptr;
}

// The 16 numbers, or their bits, that a gather reads at places that are known to be among them, and
// these. What lanes hold that are masked out is left open.
struct Lookup {
  const llvm::ConstantDataArray* numbers = nullptr;
  llvm::Value* places = nullptr;
};
Lookup lookup_of(llvm::Instruction& step) {
  using namespace llvm::PatternMatch;
  llvm::Value* pointers = nullptr;
  if (!match(&step, m_Intrinsic<llvm::Intrinsic::masked_gather>(m_Value(pointers))) ||
      !llvm::isa<llvm::UndefValue>(step.getOperand(2)))
    return {};
  auto* place = llvm::dyn_cast<llvm::GetElementPtrInst>(pointers);
  const auto has_word = [](const llvm::Type* type) {
    return type->isFloatTy() || type->isIntegerTy(32);
  };
  if (!place || place->getNumIndices() != 1 || !has_word(step.getType()->getScalarType()) ||
      !has_word(place->getSourceElementType()))
    return {};
  llvm::Value* places = place->getOperand(1);
  const auto bits = llvm::computeKnownBits(places, step.getDataLayout()).countMaxActiveBits();
  return bits <= lane_bits ? Lookup{numbers_of(place->getPointerOperand()), places} : Lookup();
}

llvm::Constant* vector_of(const llvm::ConstantDataArray& numbers) {
  std::vector<llvm::Constant*> out;
  for (unsigned i = 0; i < lanes; ++i) out.push_back(numbers.getElementAsConstant(i));
  return llvm::ConstantVector::get(out);
}

// The instruction looks at the low bits of a place alone.
llvm::Value* unmasked_indices(llvm::IRBuilder<>& b, llvm::Value* places) {
  using namespace llvm::PatternMatch;
  llvm::Value* wider = nullptr;
  if (match(places, m_ZExt(m_Value(wider)))) places = wider;
  if (match(places, m_And(m_Value(wider), m_SpecificInt(lanes - 1)))) places = wider;
  return b.CreateZExtOrTrunc(places, places->getType()->getWithNewType(b.getInt32Ty()));
}

llvm::Value* permuted(llvm::Instruction& step, const Lookup& lookup) {
  llvm::IRBuilder<> b(&step);
  llvm::Constant* numbers = vector_of(*lookup.numbers);
  llvm::Value* places = unmasked_indices(b, lookup.places);
  const auto count = llvm::cast<llvm::FixedVectorType>(step.getType())->getNumElements();
  std::vector<llvm::Value*> parts;
  for (unsigned first = 0; first < count; first += lanes) {
    std::vector<int> here(lanes, -1);
    std::iota(here.begin(), here.begin() + std::min(lanes, count - first), first);
    parts.push_back(b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_permvar_sf_512, {},
                                      {numbers, b.CreateShuffleVector(places, here)}));
  }
  std::vector<int> all(count);
  std::iota(all.begin(), all.end(), 0);
  llvm::Value* joined = parts.size() == 1 ? parts[0] : llvm::concatenateVectors(b, parts);
  return b.CreateBitCast(b.CreateShuffleVector(joined, all), step.getType());
}

}  // namespace

void mark_lookup(llvm::LoadInst& load, bool has_pairs) {
  llvm::LLVMContext& context = load.getContext();
  llvm::Metadata* pairs = has_pairs ? llvm::MDString::get(context, "pairs") : nullptr;
  load.setMetadata(lookup_mark,
                   llvm::MDNode::get(context, llvm::ArrayRef(&pairs, has_pairs ? 1 : 0)));
}

bool is_table(const llvm::LoadInst& load) {
  if (load.hasMetadata(lookup_mark)) return true;
  const auto* base = llvm::getUnderlyingObject(load.getPointerOperand());
  const auto* global = llvm::dyn_cast<llvm::GlobalVariable>(base);
  return global && global->isConstant();
}

bool is_looked_up_in_one_step(const llvm::LoadInst& load) {
  return numbers_of(llvm::getUnderlyingObject(load.getPointerOperand()));
}

void permute_tables(llvm::Function& function, const llvm::TargetMachine& machine) {
  if (!machine.getTargetTriple().isX86()) return;
  std::vector<std::pair<llvm::Instruction*, Lookup>> found;
  for (llvm::Instruction& step : llvm::instructions(function))
    if (const Lookup lookup = lookup_of(step); lookup.numbers) found.emplace_back(&step, lookup);
  if (found.empty() || !machine.getSubtargetImpl(function)->checkFeatures("+avx512f")) return;
  for (const auto& [step, lookup] : found) {
    step->replaceAllUsesWith(permuted(*step, lookup));
    llvm::RecursivelyDeleteTriviallyDeadInstructions(step);
  }
}

void let_tables_be_gathered(llvm::Function& function, const llvm::TargetMachine& machine) {
  if (!machine.getTargetTriple().isX86() ||
      machine.getMCSubtargetInfo()->checkFeatures("+fast-gather"))
    return;
  if (!reads_table(function) && !computes_much(function)) return;
  const llvm::StringRef features = machine.getTargetFeatureString();
  function.addFnAttr("target-features",
                     features.empty() ? "+fast-gather" : (features + ",+fast-gather").str());
}

void note_quick_gathers(llvm::Function& function, const llvm::TargetMachine& machine) {
  if (machine.getTargetTriple().isX86() &&
      machine.getMCSubtargetInfo()->checkFeatures("+fast-gather,+avxvnni"))
    change_hints(function, [](KernelHints& hints) { hints.has_quick_gathers = true; });
}

}  // namespace hilo

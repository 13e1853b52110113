#include "emit/scaled_powers.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/CodeGen/TargetSubtargetInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

#include <algorithm>
#include <numeric>

#include "emit/loop_limits.h"

namespace hilo {
namespace {

using llvm::Value;

constexpr unsigned lanes = KernelLimits::widest_lanes;

struct Scaled {
  Value *factor = nullptr, *power = nullptr;
};
Scaled scaled_of(llvm::Instruction& step) {
  using namespace llvm::PatternMatch;
  Scaled out;
  if (!step.getType()->getScalarType()->isFloatTy() ||
      !match(&step,
             m_Intrinsic<llvm::Intrinsic::ldexp>(
                 m_Value(out.factor),
                 m_Freeze(m_FPToSI(m_Intrinsic<llvm::Intrinsic::floor>(m_Value(out.power)))))))
    return {};
  return out;
}

// Lanes from the first one on, as far as there are.
Value* vector_from(llvm::IRBuilder<>& b, Value* numbers, unsigned first) {
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(numbers->getType());
  if (!type) {
    auto* whole = llvm::FixedVectorType::get(numbers->getType(), lanes);
    return b.CreateInsertElement(llvm::PoisonValue::get(whole), numbers, b.getInt64(0));
  }
  std::vector<int> here(lanes, -1);
  std::iota(here.begin(), here.begin() + std::min(lanes, type->getNumElements() - first), first);
  return b.CreateShuffleVector(numbers, here);
}

Value* scaled(llvm::Instruction& step, const Scaled& operands) {
  llvm::IRBuilder<> b(&step);
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(step.getType());
  const unsigned count = type ? type->getNumElements() : 1;
  constexpr int as_it_is = 4;  // how is rounded
  std::vector<Value*> parts;
  for (unsigned first = 0; first < count; first += lanes) {
    Value* factor = vector_from(b, operands.factor, first);
    parts.push_back(b.CreateIntrinsic(
        llvm::Intrinsic::x86_avx512_mask_scalef_ps_512, {},
        {factor, vector_from(b, operands.power, first),
         llvm::Constant::getNullValue(factor->getType()), b.getInt16(-1), b.getInt32(as_it_is)}));
  }
  Value* joined = parts.size() == 1 ? parts[0] : llvm::concatenateVectors(b, parts);
  if (!type) return b.CreateExtractElement(joined, b.getInt64(0));
  std::vector<int> all(count);
  std::iota(all.begin(), all.end(), 0);
  return b.CreateShuffleVector(joined, all);
}

}  // namespace

void scale_by_floats(llvm::Function& function, const llvm::TargetMachine& machine) {
  if (!machine.getTargetTriple().isX86()) return;
  std::vector<std::pair<llvm::Instruction*, Scaled>> found;
  for (llvm::Instruction& step : llvm::instructions(function))
    if (const Scaled operands = scaled_of(step); operands.power)
      found.emplace_back(&step, operands);
  if (found.empty() || !machine.getSubtargetImpl(function)->checkFeatures("+avx512f")) return;
  for (const auto& [step, operands] : found) {
    step->replaceAllUsesWith(scaled(*step, operands));
    llvm::RecursivelyDeleteTriviallyDeadInstructions(step);
  }
}

}  // namespace hilo

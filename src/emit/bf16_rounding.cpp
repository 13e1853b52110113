#include "emit/bf16_rounding.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/CodeGen/TargetSubtargetInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/Local.h>

#include <algorithm>
#include <set>

#include "analysis/analysis.h"
#include "emit/loops.h"

namespace hilo {
namespace {

using llvm::Value;
namespace match = llvm::PatternMatch;

constexpr const char* bf16_mark = "hilo.bf16";

bool has_bf16_instructions(const llvm::Function& function, const llvm::TargetMachine& machine) {
  const llvm::Triple& triple = machine.getTargetTriple();
  if (!triple.isX86() && !triple.isAArch64()) return false;
  return machine.getSubtargetImpl(function)->checkFeatures(triple.isX86() ? "+avx512bf16,+avx512vl"
                                                                          : "+bf16");
}

// Whether the f32 cannot be subnormal: code runs with subnormal results as zeros.
bool is_never_subnormal(const Value* x, size_t depth = 0) {
  if (depth > SearchBudget::max_depth) return false;
  const auto all = [&](auto operands) {
    return std::ranges::all_of(
        operands, [&](const Value* one) { return is_never_subnormal(one, depth + 1); });
  };
  if (const auto* constant = llvm::dyn_cast<llvm::Constant>(x)) {
    const auto* splat = llvm::dyn_cast_or_null<llvm::ConstantFP>(
        constant->getType()->isVectorTy() ? constant->getSplatValue() : constant);
    return splat && !splat->getValueAPF().isDenormal();
  }
  const auto* step = llvm::dyn_cast<llvm::Instruction>(x);
  if (!step) return false;
  if (llvm::isa<llvm::SelectInst>(step)) return all(llvm::drop_begin(step->operand_values()));
  if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(step)) {
    const llvm::Intrinsic::ID id = call->getIntrinsicID();
    if (id == llvm::Intrinsic::copysign || id == llvm::Intrinsic::fabs)
      return is_never_subnormal(call->getArgOperand(0), depth + 1);
    if (id == llvm::Intrinsic::maximum || id == llvm::Intrinsic::minimum) return all(call->args());
    return id == llvm::Intrinsic::fmuladd || id == llvm::Intrinsic::sqrt;
  }
  switch (step->getOpcode()) {
    case llvm::Instruction::FNeg: return is_never_subnormal(step->getOperand(0), depth + 1);
    case llvm::Instruction::FAdd:
    case llvm::Instruction::FSub:
    case llvm::Instruction::FMul:
    case llvm::Instruction::FDiv:
    case llvm::Instruction::FPTrunc:
    case llvm::Instruction::SIToFP:
    case llvm::Instruction::UIToFP: return true;
    default: return false;
  }
}

// Whether the low halves of all lanes are known to be zeros.
bool ends_in_zeros(const Value* bits, const llvm::DataLayout& layout) {
  if (llvm::isa<llvm::PoisonValue>(bits)) return true;
  if (const auto* step = llvm::dyn_cast<llvm::InsertElementInst>(bits))
    return ends_in_zeros(step->getOperand(0), layout) && ends_in_zeros(step->getOperand(1), layout);
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(bits))
    if (is_in_array_of_bf16(load->getPointerOperand())) return true;
  return llvm::computeKnownBits(bits, layout).countMinTrailingZeros() >= 16;
}

// Whether every NaN that the f32 may be has a low half of zeros. Arithmetic hands on the NaN of an
// operand or makes one that ends in zeros; `seen` holds what is looked at already.
bool has_nan_of_bf16(const Value* x, std::set<const Value*>& seen) {
  if (!seen.insert(x).second) return true;
  if (const auto* constant = llvm::dyn_cast<llvm::Constant>(x)) {
    if (llvm::isa<llvm::PoisonValue>(constant)) return true;
    const auto* one = llvm::dyn_cast_or_null<llvm::ConstantFP>(
        constant->getType()->isVectorTy() ? constant->getSplatValue() : constant);
    return one && !one->isNaN();
  }
  const auto* step = llvm::dyn_cast<llvm::Instruction>(x);
  if (!step || seen.size() > SearchBudget::max_visited) return false;
  if (llvm::isa<llvm::FPMathOperator>(step) && step->hasNoNaNs()) return true;
  const auto all = [&](auto operands) {
    return std::ranges::all_of(operands,
                               [&](const Value* one) { return has_nan_of_bf16(one, seen); });
  };
  if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(step))
    return llvm::isTriviallyVectorizable(call->getIntrinsicID()) && all(call->args());
  switch (step->getOpcode()) {
    case llvm::Instruction::BitCast: {
      const Value* bits = step->getOperand(0);
      if (bits->getType()->getScalarSizeInBits() != 32) return false;
      return ends_in_zeros(bits, step->getDataLayout());
    }
    case llvm::Instruction::Load:
      return is_in_array_of_bf16(llvm::getLoadStorePointerOperand(step));
    case llvm::Instruction::InsertElement:
      return has_nan_of_bf16(step->getOperand(0), seen) &&
             has_nan_of_bf16(step->getOperand(1), seen);
    case llvm::Instruction::SIToFP:
    case llvm::Instruction::UIToFP: return true;
    case llvm::Instruction::FNeg:
    case llvm::Instruction::FAdd:
    case llvm::Instruction::FSub:
    case llvm::Instruction::FMul:
    case llvm::Instruction::FDiv:
    case llvm::Instruction::ShuffleVector:
    case llvm::Instruction::PHI: return all(step->operand_values());
    case llvm::Instruction::Select: return all(llvm::drop_begin(step->operand_values()));
    default: return false;
  }
}

// The vector that `step` rounds, its result standing in the upper halves, and the sum that is this
// where it is no NaN; null where it is another step.
struct Rounding {
  Value *x = nullptr, *sum = nullptr;
};
Rounding rounding_of(llvm::Instruction& step) {
  using namespace match;
  if (!step.getType()->isVectorTy()) return {};
  Value *x = nullptr, *same = nullptr, *last = nullptr;
  if (!match::match(&step,
                    m_Select(m_SpecificFCmp(llvm::CmpInst::FCMP_UNO, m_Value(x), m_Value()),
                             m_Or(m_BitCast(m_Deferred(x)), m_SpecificInt(0x400000)),
                             m_c_Add(m_Add(m_BitCast(m_Value(same)), m_SpecificInt(0x7fff)),
                                     m_And(m_LShr(m_BitCast(m_Value(last)), m_SpecificInt(16)),
                                           m_SpecificInt(1))))))
    return {};
  const bool fits = x == same && x == last && x->getType()->getScalarType()->isFloatTy();
  return fits ? Rounding{x, step.getOperand(2)} : Rounding();
}

Value* rounded_by_instruction(llvm::Instruction& step, Value* x) {
  llvm::IRBuilder<> b(&step);
  auto* type = llvm::cast<llvm::VectorType>(step.getType());
  const auto of = [&](llvm::Type* element) {
    return llvm::VectorType::get(element, type->getElementCount());
  };
  Value* half = b.CreateBitCast(b.CreateFPTrunc(x, of(b.getBFloatTy())), of(b.getInt16Ty()));
  return b.CreateShl(b.CreateZExt(half, type), 16);
}

}  // namespace

llvm::Value* frame_array_of_bf16(Builder& b, int64_t count) {
  llvm::Value* array = frame_array(b, b.getFloatTy(), count);
  llvm::LLVMContext& context = b.getContext();
  llvm::cast<llvm::AllocaInst>(array)->setMetadata(bf16_mark, llvm::MDNode::get(context, {}));
  return array;
}

bool is_in_array_of_bf16(const llvm::Value* pointer) {
  const auto* array = llvm::dyn_cast<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer));
  return array && array->hasMetadata(bf16_mark);
}

void shorten_bf16_rounding(llvm::Function& function, const llvm::TargetMachine& machine) {
  std::vector<std::pair<llvm::Instruction*, Rounding>> found;
  for (llvm::Instruction& step : llvm::instructions(function))
    if (const Rounding rounding = rounding_of(step); rounding.x)
      found.emplace_back(&step, rounding);
  if (found.empty()) return;
  const bool has_instruction = has_bf16_instructions(function, machine);
  for (const auto& [step, rounding] : found) {
    std::set<const llvm::Value*> seen;
    if (has_instruction && is_never_subnormal(rounding.x))
      step->replaceAllUsesWith(rounded_by_instruction(*step, rounding.x));
    else if (has_nan_of_bf16(rounding.x, seen)) step->replaceAllUsesWith(rounding.sum);
    else continue;
    llvm::RecursivelyDeleteTriviallyDeadInstructions(step);
  }
}

}  // namespace hilo

#include "emit/bf16_rounding.h"

#include <llvm/CodeGen/TargetSubtargetInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/Local.h>

#include <algorithm>

namespace hilo {
namespace {

using llvm::Value;
namespace match = llvm::PatternMatch;

constexpr int deepest = 8;

bool has_bf16_instructions(const llvm::Function& function, const llvm::TargetMachine& machine) {
  const llvm::Triple& triple = machine.getTargetTriple();
  if (!triple.isX86() && !triple.isAArch64()) return false;
  return machine.getSubtargetImpl(function)->checkFeatures(triple.isX86() ? "+avx512bf16,+avx512vl"
                                                                          : "+bf16");
}

// Whether the f32 cannot be subnormal: code runs with subnormal results as zeros.
bool is_never_subnormal(const Value* x, int depth = 0) {
  if (depth > deepest) return false;
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

// The vector that `step` rounds, its result standing in the upper halves; null where it is another
// step.
Value* rounded_by(llvm::Instruction& step) {
  using namespace match;
  if (!step.getType()->isVectorTy()) return nullptr;
  Value *x = nullptr, *same = nullptr, *last = nullptr;
  if (!match::match(&step,
                    m_Select(m_SpecificFCmp(llvm::CmpInst::FCMP_UNO, m_Value(x), m_Value()),
                             m_Or(m_BitCast(m_Deferred(x)), m_SpecificInt(0x400000)),
                             m_c_Add(m_Add(m_BitCast(m_Value(same)), m_SpecificInt(0x7fff)),
                                     m_And(m_LShr(m_BitCast(m_Value(last)), m_SpecificInt(16)),
                                           m_SpecificInt(1))))))
    return nullptr;
  const bool fits = x == same && x == last && x->getType()->getScalarType()->isFloatTy();
  return fits && is_never_subnormal(x) ? x : nullptr;
}

}  // namespace

void use_bf16_instructions(llvm::Function& function, const llvm::TargetMachine& machine) {
  std::vector<std::pair<llvm::Instruction*, Value*>> found;
  for (llvm::Instruction& step : llvm::instructions(function))
    if (Value* x = rounded_by(step)) found.emplace_back(&step, x);
  if (found.empty() || !has_bf16_instructions(function, machine)) return;
  for (const auto& [step, x] : found) {
    llvm::IRBuilder<> b(step);
    auto* type = llvm::cast<llvm::VectorType>(step->getType());
    const auto of = [&](llvm::Type* element) {
      return llvm::VectorType::get(element, type->getElementCount());
    };
    Value* half = b.CreateBitCast(b.CreateFPTrunc(x, of(b.getBFloatTy())), of(b.getInt16Ty()));
    step->replaceAllUsesWith(b.CreateShl(b.CreateZExt(half, type), 16));
    llvm::RecursivelyDeleteTriviallyDeadInstructions(step);
  }
}

}  // namespace hilo

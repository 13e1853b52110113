#include "emit/vector_constants.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/CodeGen/TargetSubtargetInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Target/TargetMachine.h>

#include "emit/loop_limits.h"
#include "emit/math.h"

namespace hilo {
namespace {

// Constants that have registers beside what is computed in the others of 16.
constexpr size_t fitting = 4;

bool takes_constants(const llvm::Instruction& step) {
  using llvm::Instruction;
  const unsigned op = step.getOpcode();
  if (op == Instruction::FAdd || op == Instruction::FSub || op == Instruction::FMul) return true;
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&step);
  return call && (call->getIntrinsicID() == llvm::Intrinsic::fmuladd ||
                  call->getIntrinsicID() == llvm::Intrinsic::fma);
}

// One number in all lanes of whole registers; none where an instruction makes it of nothing.
llvm::Constant* constant_of(const llvm::Use& use) {
  auto* constant = llvm::dyn_cast<llvm::Constant>(use.get());
  if (!constant || !constant->getType()->isFPOrFPVectorTy() || constant->isNullValue())
    return nullptr;
  const auto bits = constant->getType()->getPrimitiveSizeInBits().getFixedValue();
  return bits % middle_vector_bits == 0 && constant->getSplatValue() ? constant : nullptr;
}

// Each half of a pair of registers reads its own copy, for what two instructions read is kept in a
// register.
llvm::GlobalVariable& kept(Builder& b, llvm::Constant* constant) {
  const auto* type = llvm::cast<llvm::FixedVectorType>(constant->getType());
  const llvm::APInt bits =
      llvm::cast<llvm::ConstantFP>(constant->getSplatValue())->getValueAPF().bitcastToAPInt();
  const std::string name =
      "number_" + llvm::toString(bits, 16, false) + "_" + std::to_string(type->getNumElements());
  auto* out =
      llvm::cast<llvm::GlobalVariable>(real_parts::table(b, name, [constant] { return constant; }));
  out->setAlignment(llvm::Align(middle_vector));
  out->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  return *out;
}

}  // namespace

void keep_constants_as_vectors(llvm::Function& function, const llvm::TargetMachine& machine) {
  llvm::MapVector<llvm::Constant*, llvm::SmallVector<llvm::Use*>> uses;
  for (llvm::Instruction& step : llvm::instructions(function))
    if (takes_constants(step))
      for (llvm::Use& use : step.operands())
        if (llvm::Constant* constant = constant_of(use)) uses[constant].push_back(&use);
  if (uses.size() <= fitting) return;
  const llvm::TargetSubtargetInfo& chip = *machine.getSubtargetImpl(function);
  if (!chip.checkFeatures("+avx2,+fma") || chip.checkFeatures("+avx512vl")) return;
  for (auto& [constant, at] : uses) {
    Builder b(&function.getEntryBlock());
    llvm::GlobalVariable& data = kept(b, constant);
    for (llvm::Use* use : at) {
      b.SetInsertPoint(llvm::cast<llvm::Instruction>(use->getUser()));
      llvm::LoadInst* read = b.CreateAlignedLoad(constant->getType(), &data, *data.getAlign());
      read->setMetadata(llvm::LLVMContext::MD_invariant_load,
                        llvm::MDNode::get(b.getContext(), {}));
      use->set(read);
    }
  }
}

}  // namespace hilo

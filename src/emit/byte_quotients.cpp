#include "emit/byte_quotients.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

namespace hilo {
namespace {

bool divides_bytes_by_constants(const llvm::Instruction& step) {
  return step.isIntDivRem() && step.getType()->isVectorTy() &&
         step.getType()->getScalarType()->isIntegerTy(8) &&
         llvm::isa<llvm::Constant>(step.getOperand(1));
}

}  // namespace

void divide_bytes_as_words(llvm::Function& function) {
  llvm::SmallVector<llvm::BinaryOperator*> found;
  for (llvm::Instruction& step : llvm::instructions(function))
    if (divides_bytes_by_constants(step)) found.push_back(llvm::cast<llvm::BinaryOperator>(&step));
  for (llvm::BinaryOperator* step : found) {
    llvm::IRBuilder<> b(step);
    const bool is_signed = step->getOpcode() == llvm::Instruction::SDiv ||
                           step->getOpcode() == llvm::Instruction::SRem;
    llvm::Type* words = step->getType()->getWithNewBitWidth(16);
    const auto extended = [&](llvm::Value* v) { return b.CreateIntCast(v, words, is_signed); };
    llvm::Value* result = b.CreateBinOp(step->getOpcode(), extended(step->getOperand(0)),
                                        extended(step->getOperand(1)));
    step->replaceAllUsesWith(b.CreateTrunc(result, step->getType()));
    step->eraseFromParent();
  }
}

}  // namespace hilo

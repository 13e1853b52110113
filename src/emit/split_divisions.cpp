#include "emit/split_divisions.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/CodeGen/TargetSubtargetInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/PatternMatch.h>

#include <algorithm>
#include <numeric>

namespace hilo {
namespace {

using llvm::Value;

constexpr unsigned narrowest =
    512;  // bits of a register; AVX2 takes too many steps to look for large and small numbers
constexpr size_t longest = 300;  // instructions of a loop
// Divisors and what they divide, as powers of two: quotients and their rests are normal numbers.
constexpr int least_divisor = -40, most_divisor = 40, least = -78, most = 80;

uint32_t bits_of(int power) { return static_cast<uint32_t>(power + 127) << 23; }

struct Division {
  llvm::Instruction* step = nullptr;
  Value* divisor = nullptr;  // one number
};

Division division_of(llvm::Instruction& step, unsigned register_bits) {
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(step.getType());
  if (step.getOpcode() != llvm::Instruction::FDiv || !type ||
      !type->getElementType()->isFloatTy() || type->getNumElements() * 32 != 2 * register_bits ||
      llvm::isa<llvm::Constant>(step.getOperand(0)))
    return {};
  Value* divisor = llvm::getSplatValue(step.getOperand(1));
  const auto* made = llvm::dyn_cast_or_null<llvm::Instruction>(divisor);
  const bool is_in_loop = made && made->getParent() == step.getParent();
  return divisor && !is_in_loop ? Division{&step, divisor} : Division();
}

// What stands before the loop, in each lane: the reciprocal, and the largest bits of a magnitude,
// less one, that is too small to be divided so: those of any where the divisor is too small or too
// large.
struct Prepared {
  Value *inverse, *too_small;
};
Prepared prepared(Value* divisor, llvm::Function& function, unsigned lanes) {
  llvm::BasicBlock& entry = function.getEntryBlock();
  auto* made = llvm::dyn_cast<llvm::Instruction>(divisor);
  const auto place =
      made ? *made->getInsertionPointAfterDef() : entry.getFirstNonPHIOrDbgOrAlloca();
  llvm::IRBuilder<> b(place->getParent(), place);
  Value* bits = b.CreateAnd(b.CreateBitCast(divisor, b.getInt32Ty()), 0x7fffffff);
  const uint32_t first = bits_of(least_divisor);
  Value* is_usual = b.CreateICmpULE(b.CreateSub(bits, b.getInt32(first)),
                                    b.getInt32(bits_of(most_divisor) - first));
  Value* inverse = b.CreateFDiv(llvm::ConstantFP::get(divisor->getType(), 1), divisor);
  Value* too_small = b.CreateSelect(is_usual, b.getInt32(bits_of(least) - 2), b.getInt32(~0U));
  return {b.CreateVectorSplat(lanes, inverse), b.CreateVectorSplat(lanes, too_small)};
}

// Zeros are divided as others are, but for the sign of the sum that is their quotient.
Value* quotient(llvm::IRBuilder<>& b, Value* x, Value* divisor, const Prepared& known) {
  const auto fused = [&](Value* a, Value* c, Value* d) {
    return b.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, c, d});
  };
  Value* first = b.CreateFMul(x, known.inverse);
  Value* rest = fused(b.CreateFNeg(first), divisor, x);
  Value* out =
      b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, fused(rest, known.inverse, first), first);
  llvm::Type* type = x->getType()->getWithNewType(b.getInt32Ty());
  Value* magnitude =
      b.CreateAnd(b.CreateBitCast(x, type), llvm::ConstantInt::get(type, 0x7fffffff));
  Value* is_small =
      b.CreateICmpULE(b.CreateSub(magnitude, llvm::ConstantInt::get(type, 1)), known.too_small);
  Value* is_large = b.CreateICmpUGT(magnitude, llvm::ConstantInt::get(type, bits_of(most)));
  Value* choice = b.CreateSelect(b.CreateOr(is_small, is_large), b.CreateFDiv(x, divisor), out);
  llvm::cast<llvm::SelectInst>(choice)->setMetadata(
      llvm::LLVMContext::MD_prof, llvm::MDBuilder(b.getContext()).createUnlikelyBranchWeights());
  return choice;
}

void split(const Division& division) {
  llvm::Instruction& step = *division.step;
  llvm::IRBuilder<> b(&step);
  const auto half = llvm::cast<llvm::FixedVectorType>(step.getType())->getNumElements() / 2;
  const auto part = [&](Value* value, unsigned first) {
    std::vector<int> lanes(half);
    std::iota(lanes.begin(), lanes.end(), first);
    return b.CreateShuffleVector(value, lanes);
  };
  const Prepared known = prepared(division.divisor, *step.getFunction(), half);
  Value *x = step.getOperand(0), *divisor = part(step.getOperand(1), 0);
  Value* divided = b.CreateFDiv(part(x, 0), divisor);
  Value* multiplied = quotient(b, part(x, half), divisor, known);
  step.replaceAllUsesWith(llvm::concatenateVectors(b, {divided, multiplied}));
  step.eraseFromParent();
}

}  // namespace

bool divides_by_one(const llvm::Loop& loop, unsigned register_bits) {
  const llvm::BasicBlock& body = *loop.getHeader();
  return register_bits >= narrowest && body.size() <= longest &&
         std::ranges::any_of(body, [&](const llvm::Instruction& step) {
           return step.getOpcode() == llvm::Instruction::FDiv && step.getType()->isFloatTy() &&
                  loop.isLoopInvariant(step.getOperand(1)) &&
                  !loop.isLoopInvariant(step.getOperand(0));
         });
}

void split_divisions(llvm::Function& function, const llvm::TargetMachine& machine,
                     unsigned register_bits) {
  if (!machine.getTargetTriple().isX86() || register_bits < narrowest) return;
  std::vector<Division> found;
  for (llvm::Instruction& step : llvm::instructions(function))
    if (const Division division = division_of(step, register_bits); division.step)
      found.push_back(division);
  if (found.empty() || !machine.getSubtargetImpl(function)->checkFeatures("+fma")) return;
  for (const Division& division : found) split(division);
}

}  // namespace hilo

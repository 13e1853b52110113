#include "emit/split_divisions.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/CodeGen/TargetSubtargetInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/PatternMatch.h>

#include <algorithm>
#include <numeric>

#include "emit/float_bits.h"
#include "emit/loop_limits.h"

namespace hilo {
namespace {

using llvm::Value;
using F32Bits = FloatBits<float>;

constexpr size_t longest = 300;  // instructions of a loop
// Divisors and what they divide, as powers of two: quotients and their rests are normal numbers.
constexpr int min_divisor_exponent = -40, max_divisor_exponent = 40, least = -78, most = 80;

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

// What stands before the loop, in each lane.
struct Prepared {
  Value* inverse;  // the reciprocal
  // With masks the largest bits of a magnitude, less one, that is too small to be divided so, else
  // zero: all ones where the divisor is too small, too large or, without masks, negative.
  Value* too_small;
};
Prepared prepared(Value* divisor, llvm::Function& function, unsigned lanes, bool has_masks) {
  llvm::BasicBlock& entry = function.getEntryBlock();
  auto* made = llvm::dyn_cast<llvm::Instruction>(divisor);
  const auto place =
      made ? *made->getInsertionPointAfterDef() : entry.getFirstNonPHIOrDbgOrAlloca();
  llvm::IRBuilder<> b(place->getParent(), place);
  Value* bits = b.CreateBitCast(divisor, b.getInt32Ty());
  if (has_masks) bits = b.CreateAnd(bits, 0x7fffffff);
  const uint32_t first = F32Bits::power(min_divisor_exponent);
  Value* is_in_range = b.CreateICmpULE(b.CreateSub(bits, b.getInt32(first)),
                                       b.getInt32(F32Bits::power(max_divisor_exponent) - first));
  Value* inverse = b.CreateFDiv(llvm::ConstantFP::get(divisor->getType(), 1), divisor);
  Value* too_small = b.CreateSelect(
      is_in_range, b.getInt32(has_masks ? F32Bits::power(least) - 2 : 0), b.getInt32(~0U));
  return {b.CreateVectorSplat(lanes, inverse), b.CreateVectorSplat(lanes, too_small)};
}

// Whether x is too large or too small, or the divisor is, but not zero.
Value* is_unusual(llvm::IRBuilder<>& b, Value* x, Value* too_small) {
  llvm::Type* type = too_small->getType();
  Value* magnitude =
      b.CreateAnd(b.CreateBitCast(x, type), llvm::ConstantInt::get(type, 0x7fffffff));
  Value* is_small =
      b.CreateICmpULE(b.CreateSub(magnitude, llvm::ConstantInt::get(type, 1)), too_small);
  return b.CreateOr(is_small,
                    b.CreateICmpUGT(magnitude, llvm::ConstantInt::get(type, F32Bits::power(most))));
}

// The same in five steps of AVX2, which compares no unsigned numbers. The first byte is the
// exponent e, of which 0 is a zero, and 1 to 48 and -48 to -1 are too small and too large: the sign
// of 175 - (|e| - 1), or 0 where that is less, tells them.
Value* is_unusual_by_bytes(llvm::IRBuilder<>& b, Value* x, Value* too_small) {
  static_assert(least + F32Bits::bias == 49 && most + 1 + F32Bits::bias == 256 - 48);
  llvm::Type* type = too_small->getType();
  auto* bytes = llvm::FixedVectorType::get(
      b.getInt8Ty(), 4 * llvm::cast<llvm::FixedVectorType>(type)->getNumElements());
  Value* exponent = b.CreateBitCast(b.CreateShl(b.CreateBitCast(x, type), 1), bytes);
  Value* distance = b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, exponent, b.getFalse());
  distance = b.CreateAdd(distance, llvm::ConstantInt::getAllOnesValue(bytes));
  Value* sign = b.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat,
                                        llvm::ConstantInt::get(bytes, 175), distance);
  sign = b.CreateOr(b.CreateBitCast(sign, type), too_small);
  return b.CreateICmpSLT(sign, llvm::Constant::getNullValue(type));
}

// Zeros are divided as others are, but for their signs: a sum of two that differ has none. The
// second way keeps them where the divisor is positive.
Value* quotient(llvm::IRBuilder<>& b, Value* x, Value* divisor, const Prepared& known,
                bool has_masks) {
  const auto fused = [&](Value* a, Value* c, Value* d) {
    return b.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, c, d});
  };
  Value *first = b.CreateFMul(x, known.inverse), *out, *condition;
  if (has_masks) {
    Value* rest = fused(b.CreateFNeg(first), divisor, x);
    out = b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, fused(rest, known.inverse, first),
                                  first);
    condition = is_unusual(b, x, known.too_small);
  } else {
    Value* excess = fused(first, divisor, b.CreateFNeg(x));
    out = fused(b.CreateFNeg(excess), known.inverse, first);
    condition = is_unusual_by_bytes(b, x, known.too_small);
  }
  Value* choice = b.CreateSelect(condition, b.CreateFDiv(x, divisor), out);
  llvm::cast<llvm::SelectInst>(choice)->setMetadata(
      llvm::LLVMContext::MD_prof, llvm::MDBuilder(b.getContext()).createUnlikelyBranchWeights());
  return choice;
}

void split(const Division& division, bool has_masks) {
  llvm::Instruction& step = *division.step;
  llvm::IRBuilder<> b(&step);
  const auto half = llvm::cast<llvm::FixedVectorType>(step.getType())->getNumElements() / 2;
  const auto part = [&](Value* value, unsigned first) {
    std::vector<int> lanes(half);
    std::iota(lanes.begin(), lanes.end(), first);
    return b.CreateShuffleVector(value, lanes);
  };
  const Prepared known = prepared(division.divisor, *step.getFunction(), half, has_masks);
  Value *x = step.getOperand(0), *divisor = part(step.getOperand(1), 0);
  Value* divided = b.CreateFDiv(part(x, 0), divisor);
  Value* multiplied = quotient(b, part(x, half), divisor, known, has_masks);
  step.replaceAllUsesWith(llvm::concatenateVectors(b, {divided, multiplied}));
  step.eraseFromParent();
}

}  // namespace

bool divides_by_one(const llvm::Loop& loop, unsigned register_bits) {
  const llvm::BasicBlock& body = *loop.getHeader();
  return register_bits >= middle_vector_bits && body.size() <= longest &&
         std::ranges::any_of(body, [&](const llvm::Instruction& step) {
           return step.getOpcode() == llvm::Instruction::FDiv && step.getType()->isFloatTy() &&
                  loop.isLoopInvariant(step.getOperand(1)) &&
                  !loop.isLoopInvariant(step.getOperand(0));
         });
}

void split_divisions(llvm::Function& function, const llvm::TargetMachine& machine,
                     unsigned register_bits) {
  if (!machine.getTargetTriple().isX86() || register_bits < middle_vector_bits) return;
  std::vector<Division> found;
  for (llvm::Instruction& step : llvm::instructions(function))
    if (const Division division = division_of(step, register_bits); division.step)
      found.push_back(division);
  if (found.empty()) return;
  const llvm::TargetSubtargetInfo& chip = *machine.getSubtargetImpl(function);
  if (!chip.checkFeatures("+avx2,+fma")) return;
  const bool has_masks = chip.checkFeatures("+avx512vl");
  for (const Division& division : found) split(division, has_masks);
}

}  // namespace hilo

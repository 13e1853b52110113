#include "emit/loop_counter.h"

#include <iterator>
#include <ranges>

namespace hilo {
namespace {

// InstCombine makes comparisons of what is not negative unsigned.
bool is_less(const llvm::ICmpInst& compare, bool is_positive) {
  const auto predicate = compare.getPredicate();
  return predicate == llvm::ICmpInst::ICMP_SLT ||
         (predicate == llvm::ICmpInst::ICMP_ULT && (is_positive || compare.hasSameSign()));
}

// Of constants InstCombine makes the form with the last number.
bool find_end(LoopCounter& counter, const llvm::Loop& loop) {
  llvm::Value *compared = counter.goes_on->getOperand(0), *limit = counter.goes_on->getOperand(1);
  const auto* last = llvm::dyn_cast<llvm::ConstantInt>(limit);
  if (compared == counter.next && counter.next->hasNUses(2)) counter.end = limit;
  else if (compared == counter.number && counter.next->hasOneUse() && last && !last->isNegative())
    counter.last = limit;
  else return false;
  return loop.isLoopInvariant(limit) && is_less(*counter.goes_on, counter.last != nullptr);
}

}  // namespace

std::optional<LoopCounter> find_counter(const llvm::Loop& loop) {
  llvm::BasicBlock& body = *loop.getHeader();
  LoopCounter out;
  if (std::ranges::distance(body.phis()) != 1) return std::nullopt;
  out.number = &*body.phis().begin();
  if (!out.number->getType()->isIntegerTy(64)) return std::nullopt;
  out.begin = out.number->getIncomingValueForBlock(loop.getLoopPreheader());
  out.next = llvm::dyn_cast<llvm::BinaryOperator>(out.number->getIncomingValueForBlock(&body));
  const auto* end = llvm::dyn_cast<llvm::BranchInst>(body.getTerminator());
  if (!out.next || !end || !end->isConditional() || end->getSuccessor(0) != &body)
    return std::nullopt;
  out.goes_on = llvm::dyn_cast<llvm::ICmpInst>(end->getCondition());
  const auto* one = llvm::dyn_cast<llvm::ConstantInt>(out.next->getOperand(1));
  if (!out.goes_on || !out.goes_on->hasOneUse() || !one || !one->isOne() ||
      out.next->getOpcode() != llvm::Instruction::Add || out.next->getOperand(0) != out.number)
    return std::nullopt;
  return find_end(out, loop) ? std::optional(out) : std::nullopt;
}

}  // namespace hilo

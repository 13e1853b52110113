#include "emit/rare_tables.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <algorithm>

namespace hilo {
namespace {

using llvm::Instruction;
using llvm::Value;

// Of a table of the code, in all lanes; null where the step is no such gather.
Instruction* gather_of_table(Instruction& step) {
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&step);
  if (!call || call->getIntrinsicID() != llvm::Intrinsic::masked_gather) return nullptr;
  const auto* place = llvm::dyn_cast<llvm::GetElementPtrInst>(call->getArgOperand(0));
  const auto* base = place ? place->getPointerOperand() : nullptr;
  const auto* table = llvm::dyn_cast_or_null<llvm::GlobalVariable>(base);
  return table && table->isConstant() ? call : nullptr;
}

// The condition under which every user takes it; null where there is no such.
const Value* condition_of(const Instruction& gather) {
  const Value* condition = nullptr;
  for (const llvm::User* user : gather.users()) {
    const auto* choice = llvm::dyn_cast<llvm::SelectInst>(user);
    if (!choice || choice->getTrueValue() != &gather || choice->getFalseValue() == &gather ||
        !choice->getCondition()->getType()->isVectorTy() ||
        (condition && condition != choice->getCondition()))
      return nullptr;
    condition = choice->getCondition();
  }
  return condition;
}

// Gathers under one condition that nothing needs before the last of them.
struct Rare {
  const Value* condition;
  std::vector<Instruction*> gathers;

  bool takes(const Instruction& next, const Value* its_condition) const {
    return condition == its_condition && gathers.front()->getParent() == next.getParent() &&
           std::ranges::all_of(gathers, [&](const Instruction* gather) {
             return std::ranges::all_of(gather->users(), [&](const llvm::User* user) {
               const auto* step = llvm::cast<Instruction>(user);
               return step->getParent() != next.getParent() || next.comesBefore(step);
             });
           });
  }
};

std::vector<Rare> find_rare(llvm::Function& function) {
  std::vector<Rare> out;
  for (Instruction& step : llvm::instructions(function)) {
    Instruction* gather = gather_of_table(step);
    const Value* condition = gather ? condition_of(*gather) : nullptr;
    if (!condition) continue;
    const auto* made = llvm::dyn_cast<Instruction>(condition);
    const bool is_known =
        !made || made->getParent() != gather->getParent() || made->comesBefore(gather);
    if (!is_known) continue;
    if (!out.empty() && out.back().takes(*gather, condition)) out.back().gathers.push_back(gather);
    else out.push_back({condition, {gather}});
  }
  return out;
}

// What the block alone needs goes into it.
void sink_into(llvm::BasicBlock& block, const llvm::BasicBlock& from) {
  std::vector<Instruction*> waiting;
  for (Instruction& step : block) waiting.push_back(&step);
  while (!waiting.empty()) {
    Instruction* user = waiting.back();
    waiting.pop_back();
    for (Value* operand : user->operands()) {
      auto* step = llvm::dyn_cast<Instruction>(operand);
      if (!step || step->getParent() != &from || llvm::isa<llvm::PHINode>(step) ||
          step->mayReadOrWriteMemory() ||
          std::ranges::any_of(step->users(), [&](const llvm::User* other) {
            return llvm::cast<Instruction>(other)->getParent() != &block;
          }))
        continue;
      step->moveBefore(block.getFirstInsertionPt());
      waiting.push_back(step);
    }
  }
}

void read_seldom(const Rare& rare) {
  Instruction* last = rare.gathers.back();
  llvm::IRBuilder<> b(last);
  const auto lanes = llvm::cast<llvm::FixedVectorType>(rare.condition->getType())->getNumElements();
  Value* any =
      b.CreateIsNotNull(b.CreateBitCast(const_cast<Value*>(rare.condition), b.getIntNTy(lanes)));
  llvm::BasicBlock* before = last->getParent();
  llvm::MDNode* seldom = llvm::MDBuilder(last->getContext()).createUnlikelyBranchWeights();
  Instruction* end = llvm::SplitBlockAndInsertIfThen(any, last, false, seldom);
  llvm::BasicBlock *inside = end->getParent(), *after = last->getParent();
  for (Instruction* gather : rare.gathers) {
    gather->moveBefore(end->getIterator());
    auto* value = llvm::PHINode::Create(gather->getType(), 2, "", after->begin());
    gather->replaceAllUsesWith(value);
    value->addIncoming(gather, inside);
    value->addIncoming(llvm::PoisonValue::get(gather->getType()), before);
  }
  sink_into(*inside, *before);
}

}  // namespace

void read_rare_tables_seldom(llvm::Function& function) {
  for (const Rare& rare : find_rare(function)) read_seldom(rare);
}

}  // namespace hilo

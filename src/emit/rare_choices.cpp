#include "emit/rare_choices.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/ProfDataUtils.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <algorithm>
#include <set>

namespace hilo {
namespace {

using llvm::Instruction;
using llvm::SelectInst;
using llvm::Value;

// Fewer steps are done sooner than jumped over.
constexpr size_t least_steps = 6;

bool is_gather_of_table(const Value* value) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(value);
  if (!call || call->getIntrinsicID() != llvm::Intrinsic::masked_gather) return false;
  const auto* place = llvm::dyn_cast<llvm::GetElementPtrInst>(call->getArgOperand(0));
  const auto* base = place ? place->getPointerOperand() : nullptr;
  const auto* table = llvm::dyn_cast_or_null<llvm::GlobalVariable>(base);
  return table && table->isConstant();
}

// What is worth a jump by itself: remainders of floats are calls.
bool is_slow(const Instruction* step) {
  return is_gather_of_table(step) || step->getOpcode() == Instruction::FRem;
}

// The operand that is seldom taken, 1 or 2; 0 where none is known to be.
unsigned rare_operand(const SelectInst& choice) {
  uint64_t first = 0, second = 0;
  unsigned out = 0;
  if (llvm::extractBranchWeights(choice, first, second)) out = first < second ? 1 : 2;
  else if (choice.getType()->isVectorTy() && is_gather_of_table(choice.getTrueValue())) out = 1;
  const bool is_one = out && llvm::isa<Instruction>(choice.getOperand(out)) &&
                      choice.getOperand(out) != choice.getOperand(3 - out) &&
                      choice.getOperand(out) != choice.getCondition();
  return is_one ? out : 0;
}

bool may_be_left_out(const Instruction& step) {
  return !llvm::isa<llvm::PHINode>(step) && !step.isTerminator() &&
         (!step.mayReadOrWriteMemory() || is_gather_of_table(&step));
}

// Choices under one condition in one block, and what they alone need, in its order.
struct Rare {
  std::vector<SelectInst*> choices;  // as they stand
  unsigned operand;
  std::vector<Instruction*> steps;

  bool has(const llvm::User* user) const {
    return std::ranges::find(choices, user) != choices.end();
  }
};

// What the choices alone need, of what stands before the first of them.
std::vector<Instruction*> steps_of(const Rare& rare) {
  std::vector<Instruction*> out;
  std::set<const Value*> found;
  const auto takes = [&](const llvm::Use& use) {
    return found.contains(use.getUser()) ||
           (rare.has(use.getUser()) && use.getOperandNo() == rare.operand);
  };
  for (Instruction* step = rare.choices.front()->getPrevNode(); step; step = step->getPrevNode()) {
    if (!may_be_left_out(*step) || step->use_empty() || !std::ranges::all_of(step->uses(), takes))
      continue;
    found.insert(step);
    out.push_back(step);
  }
  std::ranges::reverse(out);
  return out;
}

// Down to its first user in its block, so that more stands before it.
void sink(SelectInst& choice) {
  Instruction* first = choice.getParent()->getTerminator();
  for (llvm::User* user : choice.users()) {
    auto* step = llvm::cast<Instruction>(user);
    if (step->getParent() == choice.getParent() && !llvm::isa<llvm::PHINode>(step) &&
        step->comesBefore(first))
      first = step;
  }
  choice.moveBefore(first->getIterator());
}

void compute_seldom(const Rare& rare) {
  SelectInst* first = rare.choices.front();
  llvm::IRBuilder<> b(first);
  Value* any = first->getCondition();
  if (rare.operand == 2) any = b.CreateNot(any);
  if (auto* lanes = llvm::dyn_cast<llvm::FixedVectorType>(any->getType()))
    any = b.CreateIsNotNull(b.CreateBitCast(any, b.getIntNTy(lanes->getNumElements())));
  llvm::BasicBlock* before = first->getParent();
  llvm::MDNode* seldom = llvm::MDBuilder(first->getContext()).createUnlikelyBranchWeights();
  Instruction* end = llvm::SplitBlockAndInsertIfThen(any, first, false, seldom);
  llvm::BasicBlock *inside = end->getParent(), *after = first->getParent();
  for (Instruction* step : rare.steps) step->moveBefore(end->getIterator());
  for (SelectInst* choice : rare.choices) {
    Value* arm = choice->getOperand(rare.operand);
    auto* value = llvm::PHINode::Create(arm->getType(), 2, "", after->begin());
    value->addIncoming(arm, inside);
    value->addIncoming(llvm::PoisonValue::get(arm->getType()), before);
    choice->setOperand(rare.operand, value);
  }
}

// The choices like the first of them whose rare operands nothing else needs.
Rare joined(std::span<SelectInst* const> choices) {
  const SelectInst& first = *choices.front();
  Rare out = {{}, rare_operand(first), {}};
  if (out.operand == 0) return out;
  for (SelectInst* next : choices)
    if (next->getCondition() == first.getCondition() && next->getParent() == first.getParent() &&
        rare_operand(*next) == out.operand)
      out.choices.push_back(next);
  for (size_t before = 0; before != out.choices.size() && !out.choices.empty();) {
    before = out.choices.size();
    out.steps = steps_of(out);
    std::erase_if(out.choices, [&](const SelectInst* choice) {
      return std::ranges::find(out.steps, choice->getOperand(out.operand)) == out.steps.end();
    });
  }
  return out;
}

std::vector<SelectInst*> find_rare(llvm::Function& function) {
  std::vector<SelectInst*> out;
  for (Instruction& step : llvm::instructions(function))
    if (auto* choice = llvm::dyn_cast<SelectInst>(&step); choice && rare_operand(*choice))
      out.push_back(choice);
  return out;
}

}  // namespace

Value* rare_choice(Builder& b, Value* condition, Value* rare, Value* usual) {
  Value* out = b.CreateSelect(condition, rare, usual);
  if (auto* choice = llvm::dyn_cast<SelectInst>(out))
    choice->setMetadata(llvm::LLVMContext::MD_prof,
                        llvm::MDBuilder(b.getContext()).createUnlikelyBranchWeights());
  return out;
}

void compute_rare_seldom(llvm::Function& function) {
  for (SelectInst* choice : find_rare(function)) sink(*choice);
  const std::vector<SelectInst*> choices = find_rare(function);
  for (size_t i = 0; i < choices.size(); ++i) {
    const Rare rare = joined(std::span(choices).subspan(i));
    if (!rare.choices.empty() &&
        (rare.steps.size() >= least_steps || std::ranges::any_of(rare.steps, is_slow)))
      compute_seldom(rare);
  }
}

}  // namespace hilo

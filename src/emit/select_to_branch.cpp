#include "emit/select_to_branch.h"

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

// Fewer steps are done sooner than jumped over: where it is known which way, and where it is not,
// where slow ones count for several.
constexpr size_t min_steps = 6, min_unknown_cost = 40, steps_of_slow = 8;
constexpr size_t longest_block = 1000;  // that is looked through for these

bool is_gather_of_table(const Value* value) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(value);
  if (!call || call->getIntrinsicID() != llvm::Intrinsic::masked_gather) return false;
  const auto* place = llvm::dyn_cast<llvm::GetElementPtrInst>(call->getArgOperand(0));
  const auto* base = place ? place->getPointerOperand() : nullptr;
  const auto* table = llvm::dyn_cast_or_null<llvm::GlobalVariable>(base);
  return table && table->isConstant();
}

// What is worth a jump by itself: remainders of floats are calls, and divisions keep the divider.
bool is_slow(const Instruction* step) {
  return is_gather_of_table(step) || step->getOpcode() == Instruction::FRem ||
         step->getOpcode() == Instruction::FDiv;
}

bool is_needed_by_one_arm(const SelectInst& choice, unsigned operand) {
  return llvm::isa<Instruction>(choice.getOperand(operand)) &&
         choice.getOperand(operand) != choice.getOperand(3 - operand) &&
         choice.getOperand(operand) != choice.getCondition();
}

size_t cost_of(const Instruction& step) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&step);
  const bool is_root = call && call->getIntrinsicID() == llvm::Intrinsic::sqrt;
  return is_root || is_slow(&step) ? steps_of_slow : 1;
}

bool may_be_left_out(const Instruction& step) {
  return !llvm::isa<llvm::PHINode>(step) && !step.isTerminator() &&
         (!step.mayReadOrWriteMemory() || is_gather_of_table(&step));
}

// About what an operand alone needs, by steps that have one user, or two; `most` or a little more
// where it is more.
size_t cost_of_operand(const SelectInst& choice, unsigned operand, size_t most) {
  if (!is_needed_by_one_arm(choice, operand)) return 0;
  std::set<const Instruction*> found;
  std::vector<const Value*> left = {choice.getOperand(operand)};
  size_t cost = 0;
  while (!left.empty() && cost < most) {
    const auto* step = llvm::dyn_cast<Instruction>(left.back());
    left.pop_back();
    if (!step || step->getParent() != choice.getParent() || step->hasNUsesOrMore(3) ||
        !may_be_left_out(*step) || !found.insert(step).second)
      continue;
    cost += cost_of(*step);
    left.insert(left.end(), step->value_op_begin(), step->value_op_end());
  }
  return cost;
}

// Loops that become vectors lose the weights of their choices, not this mark (unlikely_select).
unsigned longer_operand(const SelectInst& choice) {
  const auto cost = [&](unsigned operand) {
    return cost_of_operand(choice, operand, min_unknown_cost);
  };
  return cost(1) >= cost(2) ? 1 : 2;
}

// The operand that is seldom taken, 1 or 2; 0 where none is known to be.
unsigned unlikely_operand(const SelectInst& choice) {
  uint64_t first = 0, second = 0;
  unsigned out = 0;
  if (llvm::extractBranchWeights(choice, first, second)) out = first < second ? 1 : 2;
  else if (choice.hasMetadata(llvm::LLVMContext::MD_fpmath)) out = longer_operand(choice);
  else if (choice.getType()->isVectorTy() && is_gather_of_table(choice.getTrueValue())) out = 1;
  return out && is_needed_by_one_arm(choice, out) ? out : 0;
}

// Choices under one condition in one block, and what they alone need, in its order.
struct UnlikelyArm {
  std::vector<SelectInst*> choices;  // as they stand
  unsigned operand;
  std::vector<Instruction*> steps;

  bool has(const llvm::User* user) const {
    return std::ranges::find(choices, user) != choices.end();
  }
};

// What the choices alone need, of what stands before the first of them.
std::vector<Instruction*> steps_of(const UnlikelyArm& unlikely) {
  std::vector<Instruction*> out;
  std::set<const Value*> found;
  const auto takes = [&](const llvm::Use& use) {
    return found.contains(use.getUser()) ||
           (unlikely.has(use.getUser()) && use.getOperandNo() == unlikely.operand);
  };
  for (Instruction* step = unlikely.choices.front()->getPrevNode(); step;
       step = step->getPrevNode()) {
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

void compute_if_taken(const UnlikelyArm& unlikely, bool is_seldom) {
  SelectInst* first = unlikely.choices.front();
  llvm::IRBuilder<> b(first);
  Value* any = first->getCondition();
  if (unlikely.operand == 2) any = b.CreateNot(any);
  if (auto* lanes = llvm::dyn_cast<llvm::FixedVectorType>(any->getType()))
    any = b.CreateIsNotNull(b.CreateBitCast(any, b.getIntNTy(lanes->getNumElements())));
  llvm::BasicBlock* before = first->getParent();
  llvm::MDBuilder weights(first->getContext());
  Instruction* end = llvm::SplitBlockAndInsertIfThen(
      any, first, false, is_seldom ? weights.createUnlikelyBranchWeights() : nullptr);
  llvm::BasicBlock *inside = end->getParent(), *after = first->getParent();
  for (Instruction* step : unlikely.steps) step->moveBefore(end->getIterator());
  for (SelectInst* choice : unlikely.choices) {
    Value* arm = choice->getOperand(unlikely.operand);
    auto* value = llvm::PHINode::Create(arm->getType(), 2, "", after->begin());
    value->addIncoming(arm, inside);
    value->addIncoming(llvm::PoisonValue::get(arm->getType()), before);
    choice->setOperand(unlikely.operand, value);
  }
}

// The choices under the condition of the first of them, with an operand for which `fits`, that
// nothing else needs.
template <class Fits>
UnlikelyArm joined(std::span<SelectInst* const> choices, unsigned operand, const Fits& fits) {
  const SelectInst& first = *choices.front();
  UnlikelyArm out = {{}, operand, {}};
  for (SelectInst* next : choices)
    if (next->getCondition() == first.getCondition() && next->getParent() == first.getParent() &&
        fits(*next))
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

UnlikelyArm joined(std::span<SelectInst* const> choices) {
  const unsigned operand = unlikely_operand(*choices.front());
  if (operand == 0) return {{}, 0, {}};
  return joined(choices, operand,
                [&](const SelectInst& next) { return unlikely_operand(next) == operand; });
}

// Whether a choice is one between two results of many steps: others are mostly edges.
bool is_between_results(const SelectInst& choice) {
  const size_t first = cost_of_operand(choice, 1, min_unknown_cost);
  return first >= min_steps && cost_of_operand(choice, 2, min_unknown_cost) >= min_steps;
}

size_t cost_of(const UnlikelyArm& unlikely) {
  size_t out = 0;
  for (const Instruction* step : unlikely.steps) out += cost_of(*step);
  return out;
}

// Choices by vectors of conditions of which nothing is known. Lanes often agree.
std::vector<SelectInst*> find_unknown(llvm::Function& function) {
  std::vector<SelectInst*> out;
  for (llvm::BasicBlock& block : function)
    if (block.size() <= longest_block)
      for (Instruction& step : block)
        if (auto* choice = llvm::dyn_cast<SelectInst>(&step);
            choice && choice->getCondition()->getType()->isVectorTy() && !unlikely_operand(*choice))
          out.push_back(choice);
  return out;
}

std::vector<SelectInst*> find_unlikely(llvm::Function& function) {
  std::vector<SelectInst*> out;
  for (Instruction& step : llvm::instructions(function))
    if (auto* choice = llvm::dyn_cast<SelectInst>(&step); choice && unlikely_operand(*choice))
      out.push_back(choice);
  return out;
}

}  // namespace

Value* unlikely_select(Builder& b, Value* condition, Value* unlikely, Value* likely) {
  Value* out = b.CreateSelect(condition, unlikely, likely);
  auto* choice = llvm::dyn_cast<SelectInst>(out);
  if (!choice) return out;
  llvm::MDBuilder marks(b.getContext());
  choice->setMetadata(llvm::LLVMContext::MD_prof, marks.createUnlikelyBranchWeights());
  // What the vectoriser keeps of a choice: it has no meaning for one.
  if (out->getType()->isFPOrFPVectorTy())
    choice->setMetadata(llvm::LLVMContext::MD_fpmath, marks.createFPMath(0.5F));
  return out;
}

void branch_around_unlikely(llvm::Function& function) {
  for (SelectInst* choice : find_unlikely(function)) sink(*choice);
  const std::vector<SelectInst*> choices = find_unlikely(function);
  for (size_t i = 0; i < choices.size(); ++i) {
    const UnlikelyArm unlikely = joined(std::span(choices).subspan(i));
    if (!unlikely.choices.empty() &&
        (unlikely.steps.size() >= min_steps || std::ranges::any_of(unlikely.steps, is_slow)))
      compute_if_taken(unlikely, true);
  }
}

void branch_around_long_arms(llvm::Function& function) {
  const std::vector<SelectInst*> choices = find_unknown(function);
  for (size_t i = 0; i < choices.size(); ++i) {
    if (!is_between_results(*choices[i])) continue;
    const auto of = [&](unsigned operand) {
      return joined(std::span(choices).subspan(i), operand,
                    [&](const SelectInst& next) { return is_needed_by_one_arm(next, operand); });
    };
    // Both before either is moved: they stand beside each other.
    for (const UnlikelyArm& arm : {of(1), of(2)})
      if (cost_of(arm) >= min_unknown_cost) compute_if_taken(arm, false);
  }
}

}  // namespace hilo

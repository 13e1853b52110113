#include "emit/loop_vectorizer.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Support/KnownBits.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include <algorithm>
#include <bit>
#include <map>
#include <ranges>

#include "emit/loop_limits.h"
#include "emit/loop_remainders.h"
#include "emit/step_vectorizer.h"
#include "emit/table_reads.h"

namespace hilo {

using llvm::Value;

namespace {

// Steps of floats that wait for each other: so many are hidden by the loop's other iterations, and
// from so many on, in bodies of up to so many instructions, twice as many lanes are faster.
constexpr int max_hidden_chain = 20, min_latency_chain = 11;
constexpr size_t max_body_instructions = 300;

// Where a loop ends with a vector that overlaps the one before it, or with a rest.
constexpr uint64_t fewest_vectors = 2;
constexpr unsigned max_scalar_tail_lanes = 8;

// Arrays of the function, of its frame and of the code are apart from each other.
const Value* array_of(const Value* pointer) {
  const Value* array = llvm::getUnderlyingObject(pointer);
  const auto* argument = llvm::dyn_cast<llvm::Argument>(array);
  const bool is_known = llvm::isa<llvm::AllocaInst, llvm::GlobalVariable>(array) ||
                        (argument && argument->hasNoAliasAttr());
  return is_known ? array : nullptr;
}

// An element of a vector.
bool is_element(llvm::Type* type) {
  return llvm::VectorType::isValidElementType(type) && !type->isPointerTy();
}

bool is_only_read_or_written(const llvm::Instruction& place) {
  return std::ranges::all_of(place.users(), [&](const llvm::User* user) {
    return llvm::getLoadStorePointerOperand(user) == &place ||
           llvm::isa<llvm::GetElementPtrInst>(user);
  });
}

}  // namespace

unsigned register_bits(const llvm::TargetTransformInfo& target) {
  const auto bits = target.getRegisterBitWidth(llvm::TargetTransformInfo::RGK_FixedWidthVector);
  return static_cast<unsigned>(bits.getFixedValue());
}

LoopVectorizer::LoopVectorizer(llvm::Loop& loop, const LoopCounter& counter, unsigned lanes,
                               const llvm::TargetTransformInfo& target)
    : loop_(loop),
      counter_(counter),
      body_(*loop.getHeader()),
      layout_(body_.getDataLayout()),
      lanes_(lanes),
      target_(target),
      interleaved_(loop, counter.number, register_bits(target)) {}

bool LoopVectorizer::fits() {
  if (!has_whole_end()) end_ = may_overlap() ? End::Overlaps : End::Scalar;
  if (!overlaps() && !is_whole(counter_.begin)) return false;
  for (llvm::Instruction& step : body_)
    if (!is_counting(step) && !fits(step)) return false;
  if (!interleaved_.are_complete() || !writes_its_own()) return false;
  if (end_ != End::Scalar) return true;
  if (has_masks()) end_ = End::Masked;
  return may_have_rest();
}

bool LoopVectorizer::is_row_of_parts() const {
  const auto* begin = llvm::dyn_cast<llvm::ConstantInt>(counter_.begin);
  return begin && begin->isZero() && count_to_end() == lanes_ && interleaved_.are_some();
}

bool LoopVectorizer::has_pairs_for_doubles() const {
  const bool has_doubles = std::ranges::any_of(
      body_, [](const llvm::Instruction& step) { return step.getType()->isDoubleTy(); });
  return has_doubles && interleaved_.has_pairs_of_f32() && longest_chain() <= max_hidden_chain;
}

bool LoopVectorizer::waits() const {
  const bool has_table = std::ranges::any_of(body_, [](const llvm::Instruction& step) {
    const auto* load = llvm::dyn_cast<llvm::LoadInst>(&step);
    return load && is_table(*load) && !is_looked_up_in_one_step(*load) &&
           !std::ranges::all_of(load->users(), llvm::IsaPred<llvm::SelectInst>);
  });
  return !has_table && body_.size() <= max_body_instructions &&
         longest_chain() >= min_latency_chain;
}

// Of steps of floats that wait for each other.
int LoopVectorizer::longest_chain() const {
  std::map<const Value*, int> behind;
  int out = 0;
  for (const llvm::Instruction& step : body_) {
    int& count = behind[&step];
    if (!llvm::isa<llvm::PHINode>(step))
      for (const llvm::Use& use : step.operands())
        if (const auto found = behind.find(use.get()); found != behind.end())
          count = std::max(count, found->second);
    if (step.getType()->isFloatingPointTy()) ++count;
    out = std::max(out, count);
  }
  return out;
}

unsigned LoopVectorizer::lane_bits() const {
  return static_cast<unsigned>(std::countr_zero(lanes_));
}

bool LoopVectorizer::is_whole(const Value* value) const {
  return llvm::computeKnownBits(value, layout_).countMinTrailingZeros() >= lane_bits();
}

llvm::ConstantInt* LoopVectorizer::number_of(uint64_t value) const {
  return llvm::ConstantInt::get(llvm::Type::getInt64Ty(body_.getContext()), value);
}

// 0 where it is not known.
uint64_t LoopVectorizer::count_to_end() const {
  const auto* known =
      llvm::dyn_cast<llvm::ConstantInt>(counter_.last ? counter_.last : counter_.end);
  return known && !known->isNegative() ? known->getZExtValue() + (counter_.last ? 1 : 0) : 0;
}

bool LoopVectorizer::has_whole_end() const {
  return counter_.last ? count_to_end() % lanes_ == 0 : is_whole(counter_.end);
}

// Whether the last vector may be the last elements, of which the one before it has made some:
// where there are a few vectors, and nothing is written that is read again soon. Chips with wider
// registers have masks.
bool LoopVectorizer::may_overlap() const {
  const auto* begin = llvm::dyn_cast<llvm::ConstantInt>(counter_.begin);
  return begin && begin->isZero() && count_to_end() >= fewest_vectors * lanes_ &&
         register_bits(target_) <= middle_vector_bits;
}

// Elements begin at min(number, end - lanes), so that the counter waits for nothing else.
void LoopVectorizer::end_with_last_vector() {
  llvm::IRBuilder<> b(&body_, body_.getFirstInsertionPt());
  Value* first = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, counter_.number,
                                         number_of(count_to_end() - lanes_));
  counter_.number->replaceUsesWithIf(first, [&](const llvm::Use& use) {
    return use.getUser() != first && !is_counting(*llvm::cast<llvm::Instruction>(use.getUser()));
  });
}

// A short body is written once more for the rest. Of long ones LoopVectorize makes vectors with a
// mask (emit/loop_remainders.h), and of few rounds what suits them.
bool LoopVectorizer::may_have_rest() const {
  const uint64_t count = count_to_end();
  const bool is_long =
      body_.size() >= (end_ == End::Masked ? body_under_masks : body_under_slow_masks);
  const bool is_nearly_whole = end_ == End::Masked && count > lanes_ && count % lanes_ > lanes_ / 2;
  const bool has_few =
      (counter_.last || count > 0) && count < fewest_vectors * lanes_ && !is_nearly_whole;
  return !is_long && !has_few && loop_.getExitBlock()->phis().empty() &&
         (end_ == End::Masked || lanes_ <= max_scalar_tail_lanes);
}

// Whether all that is read and written can be so under a mask, and nothing else depends on the
// iteration's being one of the loop.
bool LoopVectorizer::has_masks() const {
  return std::ranges::all_of(body_, [&](llvm::Instruction& step) {
    if (is_counting(step)) return true;
    const Value* pointer = llvm::getLoadStorePointerOperand(&step);
    if (!pointer) return varies(&step);
    llvm::Type* type = llvm::getLoadStoreType(&step);
    return varies(&step) && is_consecutive(pointer, type) &&
           target_.isLegalMaskedLoad(type, llvm::Align(1), 0) &&
           target_.isLegalMaskedStore(type, llvm::Align(1), 0);
  });
}

bool LoopVectorizer::is_counting(const llvm::Instruction& step) const {
  return &step == counter_.number || &step == counter_.next || &step == counter_.goes_on ||
         step.isTerminator();
}

std::optional<Value*> LoopVectorizer::offset_in(Value* index) const {
  if (index == counter_.number) return nullptr;
  const auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(index);
  const auto* bits = llvm::dyn_cast<llvm::PossiblyDisjointInst>(index);
  if (!sum || (sum->getOpcode() != llvm::Instruction::Add && !(bits && bits->isDisjoint())))
    return std::nullopt;
  for (const unsigned i : {0U, 1U})
    if (sum->getOperand(i) == counter_.number && loop_.isLoopInvariant(sum->getOperand(1 - i)))
      return sum->getOperand(1 - i);
  return std::nullopt;
}

bool LoopVectorizer::is_consecutive(const Value* pointer, llvm::Type* type) const {
  const auto* place = llvm::dyn_cast<llvm::GetElementPtrInst>(pointer);
  if (place && is_moved(*place)) return is_consecutive(place->getPointerOperand(), type);
  return place && place->getNumIndices() == 1 && offset_in(place->getOperand(1)) &&
         loop_.isLoopInvariant(place->getPointerOperand()) &&
         layout_.getTypeAllocSize(place->getSourceElementType()) ==
             layout_.getTypeStoreSize(type) &&
         type->getScalarSizeInBits() % 8 == 0;
}

bool LoopVectorizer::is_moved(const llvm::GetElementPtrInst& place) const {
  return std::ranges::all_of(place.indices(),
                             [&](const Value* index) { return loop_.isLoopInvariant(index); });
}

// Whether each iteration reads and writes of an array that is written only its own elements.
bool LoopVectorizer::writes_its_own() const {
  std::map<const Value*, const llvm::StoreInst*> written;  // one store to each array
  for (llvm::Instruction& step : body_)
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&step)) {
      const Value* array = array_of(store->getPointerOperand());
      if (!array || (overlaps() && llvm::isa<llvm::AllocaInst>(array))) return false;
      const auto [found, is_new] = written.try_emplace(array, store);
      const Interleaved* group = interleaved_.find(*store);
      if (!is_new && (!group || interleaved_.find(*found->second) != group)) return false;
    }
  return std::ranges::all_of(body_, [&](const llvm::Instruction& step) {
    const auto* load = llvm::dyn_cast<llvm::LoadInst>(&step);
    if (!load) return true;
    const Value* array = array_of(load->getPointerOperand());
    const auto found = written.find(array);
    return array &&
           (found == written.end() || (!overlaps() && reads_what_it_writes(*load, *found->second)));
  });
}

// first: of the stores to the array.
bool LoopVectorizer::reads_what_it_writes(const llvm::LoadInst& load,
                                          const llvm::StoreInst& first) const {
  const Interleaved *read = interleaved_.find(load), *written = interleaved_.find(first);
  if (!read && !written) return load.getPointerOperand() == first.getPointerOperand();
  return read && written && read->is_beside(*written) && load.comesBefore(&first);
}

// Lanes differ from the counter in low bits alone, for it is a whole number of vectors.
bool LoopVectorizer::drops_lanes(const llvm::Instruction& step) const {
  const auto* bits = llvm::dyn_cast<llvm::ConstantInt>(step.getOperand(step.getNumOperands() - 1));
  return (step.getOpcode() == llvm::Instruction::LShr ||
          step.getOpcode() == llvm::Instruction::AShr) &&
         step.getOperand(0) == counter_.number && bits && bits->getZExtValue() >= lane_bits() &&
         !overlaps();
}

bool LoopVectorizer::fits(llvm::Instruction& step) {
  const bool depends =
      !drops_lanes(step) &&
      std::ranges::any_of(step.operands(), [&](const llvm::Use& use) { return varies(use.get()); });
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&step)) {
    varying_.insert(&step);
    llvm::Type* type = store->getValueOperand()->getType();
    return store->isSimple() && is_element(type) &&
           (is_consecutive(store->getPointerOperand(), type) || interleaved_.add(step));
  }
  if (step.mayWriteToMemory()) return false;
  if (!depends) return true;
  varying_.insert(&step);
  if (llvm::isa<llvm::GetElementPtrInst>(step)) return is_only_read_or_written(step);
  if (!is_element(step.getType())) return false;
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&step))
    return load->isSimple() &&
           (is_table(*load) || is_consecutive(load->getPointerOperand(), load->getType()) ||
            interleaved_.add(step));
  if (step.isIntDivRem()) return false;
  if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&step)) return fits(*call);
  return (llvm::isa<llvm::BinaryOperator, llvm::UnaryOperator, llvm::CastInst, llvm::CmpInst,
                    llvm::SelectInst, llvm::FreezeInst>(step)) &&
         is_element(step.getOperand(0)->getType());
}

bool LoopVectorizer::fits(const llvm::IntrinsicInst& call) const {
  const llvm::Intrinsic::ID id = call.getIntrinsicID();
  if (!llvm::isTriviallyVectorizable(id)) return false;
  for (unsigned i = 0; i < call.arg_size(); ++i)
    if (llvm::isVectorIntrinsicWithScalarOpAtArg(id, i, &target_) && varies(call.getArgOperand(i)))
      return false;
  return true;
}

std::vector<llvm::Instruction*> LoopVectorizer::varying_steps() const {
  std::vector<llvm::Instruction*> out;
  for (llvm::Instruction& step : body_)
    if (!is_counting(step) && varies(&step)) out.push_back(&step);
  return out;
}

void LoopVectorizer::vectorize() {
  if (has_rest()) end_with_rest();
  const std::vector<llvm::Instruction*> steps = varying_steps();
  StepVectorizer vectorizer(*this, counter_.number);
  for (llvm::Instruction* step : steps) {
    llvm::IRBuilder<> b(step);
    vectorizer.add(b, *step);
  }
  for (llvm::Instruction* step : std::views::reverse(steps)) step->eraseFromParent();
  counter_.next->setOperand(1, number_of(lanes_));
  if (counter_.last) {
    const uint64_t end = has_rest() ? count_to_end() / lanes_ * lanes_ : count_to_end();
    counter_.goes_on->setOperand(1, number_of(end - lanes_));
  }
  if (overlaps()) end_with_last_vector();
  llvm::addStringMetadataToLoop(&loop_, "llvm.loop.isvectorized", 1);
}

// Before: loop, after. Then: the loop up to the last whole vector, if there is one, and the rest,
// if there is one, after.
void LoopVectorizer::end_with_rest() {
  llvm::BasicBlock *before = loop_.getLoopPreheader(), *after = loop_.getExitBlock();
  auto* between = llvm::BasicBlock::Create(body_.getContext(), "", body_.getParent(), after);
  llvm::IRBuilder<> b(before->getTerminator());
  const uint64_t count = count_to_end();
  Value* end = counter_.last ? number_of(count) : counter_.end;
  Value* whole = b.CreateAnd(end, number_of(~uint64_t{lanes_ - 1}));
  body_.getTerminator()->setSuccessor(1, between);
  llvm::IRBuilder<> at(between);
  llvm::BasicBlock* rest =
      end_ == End::Masked ? masked_rest(whole, end, *after) : scalar_rest(whole, *between, *after);
  if (!counter_.last) counter_.goes_on->setOperand(1, whole);
  if (count > 0) {
    at.CreateBr(rest);
  } else {
    at.CreateCondBr(at.CreateICmpSLT(whole, end), rest, after);
    llvm::ReplaceInstWithInst(
        before->getTerminator(),
        llvm::BranchInst::Create(&body_, between, b.CreateICmpSLT(counter_.begin, whole)));
  }
}

// One vector, from the last whole one on.
llvm::BasicBlock* LoopVectorizer::masked_rest(Value* whole, Value* end, llvm::BasicBlock& after) {
  auto* out = llvm::BasicBlock::Create(body_.getContext(), "", body_.getParent(), &after);
  llvm::IRBuilder<> b(out);
  Value* count = b.CreateZExtOrTrunc(b.CreateSub(end, whole), b.getIntNTy(lanes_));
  Value* first = b.CreateSub(b.CreateShl(llvm::ConstantInt::get(count->getType(), 1), count),
                             llvm::ConstantInt::get(count->getType(), 1));
  Value* mask = b.CreateBitCast(first, llvm::FixedVectorType::get(b.getInt1Ty(), lanes_));
  StepVectorizer vectorizer(*this, whole, mask);
  for (llvm::Instruction* step : varying_steps()) vectorizer.add(b, *step);
  b.CreateBr(&after);
  return out;
}

// The loop once more, from there on.
llvm::BasicBlock* LoopVectorizer::scalar_rest(Value* whole, llvm::BasicBlock& before,
                                              llvm::BasicBlock& after) const {
  llvm::ValueToValueMapTy copies;
  llvm::BasicBlock* out = llvm::CloneBasicBlock(&body_, copies, "", body_.getParent());
  copies[&body_] = out;
  for (llvm::Instruction& step : *out)
    llvm::RemapInstruction(&step, copies,
                           llvm::RF_NoModuleLevelChanges | llvm::RF_IgnoreMissingLocals);
  auto* number = llvm::cast<llvm::PHINode>(copies[counter_.number]);
  number->replaceIncomingBlockWith(loop_.getLoopPreheader(), &before);
  number->setIncomingValueForBlock(&before, whole);
  llvm::Instruction* end = out->getTerminator();
  end->setSuccessor(1, &after);
  llvm::LLVMContext& context = out->getContext();
  llvm::Metadata* one = llvm::ConstantAsMetadata::get(number_of(1));
  llvm::Metadata* done =
      llvm::MDNode::get(context, {llvm::MDString::get(context, "llvm.loop.isvectorized"), one});
  llvm::MDNode* id = llvm::MDNode::getDistinct(context, {nullptr, done});
  id->replaceOperandWith(0, id);
  end->setMetadata(llvm::LLVMContext::MD_loop, id);
  return out;
}

}  // namespace hilo

#include "emit/wide_loops.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Support/KnownBits.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include <algorithm>
#include <bit>
#include <map>
#include <ranges>
#include <set>

#include "emit/interleaved.h"
#include "emit/loop_counter.h"
#include "emit/split_divisions.h"
#include "emit/table_reads.h"

namespace hilo {
namespace {

using llvm::Instruction;
using llvm::Value;

constexpr const char* lookup_mark = "hilo.lookup";

constexpr unsigned fewest_gathered = 16;  // lanes

// A table, which is read at places that are computed: one of the code itself, or marked.
bool is_table(const llvm::LoadInst& load) {
  if (load.hasMetadata(lookup_mark)) return true;
  const auto* base = llvm::getUnderlyingObject(load.getPointerOperand());
  const auto* global = llvm::dyn_cast<llvm::GlobalVariable>(base);
  return global && global->isConstant();
}

// Long bodies have other steps to fill the waiting with, and their values no room in registers.
constexpr size_t long_body = 1000;  // instructions
// Steps of floats that wait for each other: so many are hidden by the loop's other iterations, and
// from so many on, in bodies of up to so many instructions, twice as many lanes are faster.
constexpr int most_hidden = 20, least_waiting = 11;
constexpr size_t most_waiting = 300;

// Lanes of a row that fills less than a register.
constexpr unsigned fewest_of_row = 4;

// Where a loop ends with a vector that overlaps the one before it.
constexpr uint64_t fewest_vectors = 2;
constexpr unsigned widest_without_masks = 256;  // bits of a register

class Widening {
 public:
  Widening(llvm::Loop& loop, const LoopCounter& counter, unsigned lanes,
           const llvm::TargetTransformInfo& target)
      : loop_(loop),
        counter_(counter),
        body_(*loop.getHeader()),
        layout_(body_.getDataLayout()),
        lanes_(lanes),
        target_(target),
        gathers_(body_.getParent()->hasFnAttribute(quick_gathers_attribute)),
        interleaved_(loop, counter.number, register_bits(target)) {}

  // Whether each instruction can be one over vectors; changes nothing.
  bool fits() {
    overlaps_ = !has_whole_end();
    if (overlaps_ ? !may_overlap() : !is_whole(counter_.begin)) return false;
    for (Instruction& step : body_)
      if (!is_counting(step) && !fits(step)) return false;
    return interleaved_.are_complete() && writes_its_own();
  }

  bool overlaps() const { return overlaps_; }

  // Whether the loop is one vector of numbers of several parts, of which LLVM would make none.
  bool is_row_of_parts() const {
    const auto* begin = llvm::dyn_cast<llvm::ConstantInt>(counter_.begin);
    return begin && begin->isZero() && count_to_end() == lanes_ && interleaved_.are_some();
  }

  // Whether half as many lanes are faster: pairs of f32 that are computed in double, in few steps.
  // Halves of their vectors would be moved between vectors before and after each conversion.
  bool has_pairs_for_doubles() const {
    const bool has_doubles = std::ranges::any_of(
        body_, [](const Instruction& step) { return step.getType()->isDoubleTy(); });
    return has_doubles && interleaved_.has_pairs_of_f32() && longest_chain() <= most_hidden;
  }

  // Whether twice as many lanes are faster: two vectors share constants, which do not fit into
  // registers, and one's chain of steps fills the waiting of the other's. Tables are read by single
  // lanes, but for those that are seldom chosen.
  bool waits() const {
    const bool has_table = std::ranges::any_of(body_, [](const Instruction& step) {
      const auto* load = llvm::dyn_cast<llvm::LoadInst>(&step);
      return load && is_table(*load) && !is_looked_up_in_one_step(*load) &&
             !std::ranges::all_of(load->users(), llvm::IsaPred<llvm::SelectInst>);
    });
    return !has_table && body_.size() <= most_waiting && longest_chain() >= least_waiting;
  }

  void widen() {
    std::vector<Instruction*> steps;
    for (Instruction& step : body_)
      if (!is_counting(step) && varies(&step)) steps.push_back(&step);
    for (Instruction* step : steps) {
      llvm::IRBuilder<> b(step);
      if (Value* wide = widen(b, *step)) wide_[step] = wide;
    }
    for (Instruction* step : std::views::reverse(steps)) step->eraseFromParent();
    counter_.next->setOperand(1, number_of(lanes_));
    if (counter_.last) counter_.goes_on->setOperand(1, number_of(count_to_end() - lanes_));
    if (overlaps_) end_with_last_vector();
    llvm::addStringMetadataToLoop(&loop_, "llvm.loop.isvectorized", 1);
  }

 private:
  // Of steps of floats that wait for each other.
  int longest_chain() const {
    std::map<const Value*, int> behind;
    int out = 0;
    for (const Instruction& step : body_) {
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

  unsigned lane_bits() const { return static_cast<unsigned>(std::countr_zero(lanes_)); }

  bool is_whole(const Value* value) const {
    return llvm::computeKnownBits(value, layout_).countMinTrailingZeros() >= lane_bits();
  }

  llvm::ConstantInt* number_of(uint64_t value) const {
    return llvm::ConstantInt::get(llvm::Type::getInt64Ty(body_.getContext()), value);
  }

  // 0 where it is not known.
  uint64_t count_to_end() const {
    const auto* known =
        llvm::dyn_cast<llvm::ConstantInt>(counter_.last ? counter_.last : counter_.end);
    return known && !known->isNegative() ? known->getZExtValue() + (counter_.last ? 1 : 0) : 0;
  }

  bool has_whole_end() const {
    return counter_.last ? count_to_end() % lanes_ == 0 : is_whole(counter_.end);
  }

  // Whether the last vector may be the last elements, of which the one before it has made some:
  // where there are a few vectors, and nothing is written that is read again soon. Chips with wider
  // registers have masks (emit/loop_remainders.h).
  bool may_overlap() const {
    const auto* begin = llvm::dyn_cast<llvm::ConstantInt>(counter_.begin);
    return begin && begin->isZero() && count_to_end() >= fewest_vectors * lanes_ &&
           register_bits(target_) <= widest_without_masks;
  }

  // Elements begin at min(number, end - lanes), so that the counter waits for nothing else.
  void end_with_last_vector() {
    llvm::IRBuilder<> b(&body_, body_.getFirstInsertionPt());
    Value* first = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, counter_.number,
                                           number_of(count_to_end() - lanes_));
    counter_.number->replaceUsesWithIf(first, [&](const llvm::Use& use) {
      return use.getUser() != first && !is_counting(*llvm::cast<Instruction>(use.getUser()));
    });
  }

  bool is_counting(const Instruction& step) const {
    return &step == counter_.number || &step == counter_.next || &step == counter_.goes_on ||
           step.isTerminator();
  }

  // Whether iterations have values of their own: what depends on the counter, and all stores.
  bool varies(const Value* value) const {
    return value == counter_.number || varying_.contains(value);
  }

  // What is added to the counter in a sum that is nothing else; null where it is the counter, and
  // nothing where it is no such sum.
  std::optional<Value*> offset_in(Value* index) const {
    if (index == counter_.number) return nullptr;
    const auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(index);
    const auto* bits = llvm::dyn_cast<llvm::PossiblyDisjointInst>(index);
    if (!sum || (sum->getOpcode() != Instruction::Add && !(bits && bits->isDisjoint())))
      return std::nullopt;
    for (const unsigned i : {0U, 1U})
      if (sum->getOperand(i) == counter_.number && loop_.isLoopInvariant(sum->getOperand(1 - i)))
        return sum->getOperand(1 - i);
    return std::nullopt;
  }

  // The next elements lie beside each other: at a place that does not change, plus the counter.
  bool is_consecutive(const Value* pointer, llvm::Type* type) const {
    const auto* place = llvm::dyn_cast<llvm::GetElementPtrInst>(pointer);
    if (place && is_moved(*place)) return is_consecutive(place->getPointerOperand(), type);
    return place && place->getNumIndices() == 1 && offset_in(place->getOperand(1)) &&
           loop_.isLoopInvariant(place->getPointerOperand()) &&
           layout_.getTypeAllocSize(place->getSourceElementType()) ==
               layout_.getTypeStoreSize(type) &&
           type->getScalarSizeInBits() % 8 == 0;
  }

  // By the same way in each iteration.
  bool is_moved(const llvm::GetElementPtrInst& place) const {
    return std::ranges::all_of(place.indices(),
                               [&](const Value* index) { return loop_.isLoopInvariant(index); });
  }

  // Arrays of the function, of its frame and of the code are apart from each other.
  static const Value* array_of(const Value* pointer) {
    const Value* array = llvm::getUnderlyingObject(pointer);
    const auto* argument = llvm::dyn_cast<llvm::Argument>(array);
    const bool is_known = llvm::isa<llvm::AllocaInst, llvm::GlobalVariable>(array) ||
                          (argument && argument->hasNoAliasAttr());
    return is_known ? array : nullptr;
  }

  // Whether each iteration reads and writes of an array that is written only its own elements.
  bool writes_its_own() const {
    std::map<const Value*, const llvm::StoreInst*> written;  // one store to each array
    for (Instruction& step : body_)
      if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&step)) {
        const Value* array = array_of(store->getPointerOperand());
        if (!array || (overlaps_ && llvm::isa<llvm::AllocaInst>(array))) return false;
        const auto [found, is_new] = written.try_emplace(array, store);
        const Interleaved* group = interleaved_.find(*store);
        if (!is_new && (!group || interleaved_.find(*found->second) != group)) return false;
      }
    return std::ranges::all_of(body_, [&](const Instruction& step) {
      const auto* load = llvm::dyn_cast<llvm::LoadInst>(&step);
      if (!load) return true;
      const Value* array = array_of(load->getPointerOperand());
      const auto found = written.find(array);
      return array && (found == written.end() ||
                       (!overlaps_ && reads_what_it_writes(*load, *found->second)));
    });
  }

  // first: of the stores to the array.
  bool reads_what_it_writes(const llvm::LoadInst& load, const llvm::StoreInst& first) const {
    const Interleaved *read = interleaved_.find(load), *written = interleaved_.find(first);
    if (!read && !written) return load.getPointerOperand() == first.getPointerOperand();
    return read && written && read->is_beside(*written) && load.comesBefore(&first);
  }

  // An element of a vector.
  static bool is_element(llvm::Type* type) {
    return llvm::VectorType::isValidElementType(type) && !type->isPointerTy();
  }

  // Lanes differ from the counter in low bits alone, for it is a whole number of vectors.
  bool drops_lanes(const Instruction& step) const {
    const auto* bits =
        llvm::dyn_cast<llvm::ConstantInt>(step.getOperand(step.getNumOperands() - 1));
    return (step.getOpcode() == Instruction::LShr || step.getOpcode() == Instruction::AShr) &&
           step.getOperand(0) == counter_.number && bits && bits->getZExtValue() >= lane_bits() &&
           !overlaps_;
  }

  bool fits(Instruction& step) {
    const bool depends =
        !drops_lanes(step) && std::ranges::any_of(step.operands(), [&](const llvm::Use& use) {
          return varies(use.get());
        });
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

  bool fits(const llvm::IntrinsicInst& call) const {
    const llvm::Intrinsic::ID id = call.getIntrinsicID();
    if (!llvm::isTriviallyVectorizable(id)) return false;
    for (unsigned i = 0; i < call.arg_size(); ++i)
      if (llvm::isVectorIntrinsicWithScalarOpAtArg(id, i, &target_) &&
          varies(call.getArgOperand(i)))
        return false;
    return true;
  }

  bool is_only_read_or_written(const Instruction& place) const {
    return std::ranges::all_of(place.users(), [&](const llvm::User* user) {
      return llvm::getLoadStorePointerOperand(user) == &place ||
             llvm::isa<llvm::GetElementPtrInst>(user);
    });
  }

  llvm::VectorType* vector_of(llvm::Type* type) const {
    return llvm::FixedVectorType::get(type, lanes_);
  }

  Value* wide(llvm::IRBuilder<>& b, Value* value) {
    if (const auto known = wide_.find(value); known != wide_.end()) return known->second;
    if (value == counter_.number) return wide_[value] = numbers(value->getType());
    if (auto* place = llvm::dyn_cast<llvm::GetElementPtrInst>(value); place && varies(place))
      return places(b, *place);
    if (llvm::isa<llvm::Constant>(value)) return b.CreateVectorSplat(lanes_, value);
    // Every user stands behind it.
    auto* made = llvm::dyn_cast<Instruction>(value);
    const bool is_inside = made && loop_.contains(made);
    llvm::IRBuilder<> at(is_inside ? made->getNextNode()
                                   : loop_.getLoopPreheader()->getTerminator());
    return wide_[value] = at.CreateVectorSplat(lanes_, value);
  }

  // The counter, or its low bits.
  Value* numbers(llvm::Type* type) {
    llvm::IRBuilder<> b(&body_, body_.getFirstInsertionPt());
    Value* first = b.CreateTrunc(counter_.number, type);
    return b.CreateAdd(b.CreateVectorSplat(lanes_, first), b.CreateStepVector(vector_of(type)));
  }

  // Pointers to what lies anywhere.
  Value* places(llvm::IRBuilder<>& b, llvm::GetElementPtrInst& place) {
    std::vector<Value*> indices;
    for (Value* index : place.indices()) indices.push_back(varies(index) ? wide(b, index) : index);
    Value* base = place.getPointerOperand();
    return b.CreateGEP(place.getSourceElementType(), varies(base) ? wide(b, base) : base, indices,
                       "", place.getNoWrapFlags());
  }

  // Null where users make it.
  Value* widen(llvm::IRBuilder<>& b, Instruction& step) {
    if (llvm::isa<llvm::GetElementPtrInst>(step)) return nullptr;
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&step)) return load_vector(b, *load);
    if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&step)) {
      if (interleaved_.find(step))
        return interleaved_.store(b, step, wide(b, store->getValueOperand()), lanes_), nullptr;
      return b.CreateAlignedStore(wide(b, store->getValueOperand()),
                                  address(b, *store->getPointerOperand()), store->getAlign());
    }
    Value* out = widen_operation(b, step);
    if (auto* made = llvm::dyn_cast<Instruction>(out);
        made && made->getOpcode() == step.getOpcode())
      made->copyIRFlags(&step);
    return out;
  }

  // Of what is consecutive. The place that is there goes with the body of single elements.
  Value* address(llvm::IRBuilder<>& b, Value& pointer) const {
    auto& place = llvm::cast<llvm::GetElementPtrInst>(pointer);
    Value *base = place.getPointerOperand(), *index = place.getOperand(1);
    if (is_moved(place)) {
      const std::vector<Value*> indices(place.idx_begin(), place.idx_end());
      return b.CreateGEP(place.getSourceElementType(), address(b, *base), indices, "",
                         place.getNoWrapFlags());
    }
    Value* offset = *offset_in(index);
    index = counter_.number;
    if (offset) index = b.CreateAdd(offset, index, "", false, true);
    return b.CreateGEP(place.getSourceElementType(), base, index, "", place.getNoWrapFlags());
  }

  Value* load_vector(llvm::IRBuilder<>& b, llvm::LoadInst& load) {
    if (interleaved_.find(load)) return interleaved_.load(b, load, lanes_);
    auto* type = vector_of(load.getType());
    Value* pointer = load.getPointerOperand();
    if (is_consecutive(pointer, load.getType()))
      return b.CreateAlignedLoad(type, address(b, *pointer), load.getAlign());
    if (Value* looked_up = load_from_table(b, load)) return looked_up;
    Value* pointers = wide(b, pointer);
    if (target_.isLegalMaskedGather(type, load.getAlign()) &&
        !target_.forceScalarizeMaskedGather(type, load.getAlign()))
      return b.CreateMaskedGather(type, pointers, load.getAlign());
    Value* out = llvm::PoisonValue::get(type);
    for (uint64_t lane = 0; lane < lanes_; ++lane) {
      Value* one = b.CreateAlignedLoad(load.getType(), b.CreateExtractElement(pointers, lane),
                                       load.getAlign());
      out = b.CreateInsertElement(out, one, lane);
    }
    return out;
  }

  // From a table of 16 bits at places of 16 bits: pairs of elements by gathers, or single elements,
  // whose places go through the frame, for those of vectors take longer. Null where it is another
  // one.
  Value* load_from_table(llvm::IRBuilder<>& b, llvm::LoadInst& load) {
    auto* place = llvm::dyn_cast<llvm::GetElementPtrInst>(load.getPointerOperand());
    if (!load.hasMetadata(lookup_mark) || !place || place->getNumIndices() != 1 ||
        !loop_.isLoopInvariant(place->getPointerOperand()))
      return nullptr;
    llvm::Type* word = b.getInt16Ty();
    Value* index = place->getOperand(1);
    if (auto* extended = llvm::dyn_cast<llvm::ZExtInst>(index)) index = extended->getOperand(0);
    if (llvm::computeKnownBits(index, layout_).countMaxActiveBits() > word->getIntegerBitWidth())
      return nullptr;
    if (gathers_ && load.getMetadata(lookup_mark)->getNumOperands() > 0 &&
        lanes_ >= fewest_gathered)
      return gather_words(b, *place->getPointerOperand(),
                          b.CreateTrunc(wide(b, index), vector_of(word)), load.getType());
    Value *words = words_at(b, *index, word), *pair = nullptr;
    Value* out = llvm::PoisonValue::get(vector_of(load.getType()));
    for (uint64_t lane = 0; lane < lanes_; ++lane) {
      if (lane % 2 == 0)
        pair = b.CreateAlignedLoad(b.getInt32Ty(), b.CreateConstInBoundsGEP1_64(word, words, lane),
                                   llvm::Align(2));
      Value* at = b.CreateTrunc(lane % 2 == 0 ? pair : b.CreateLShr(pair, 16), word);
      Value* one = b.CreateAlignedLoad(
          load.getType(),
          b.CreateInBoundsGEP(place->getSourceElementType(), place->getPointerOperand(),
                              b.CreateZExt(at, b.getInt64Ty())),
          load.getAlign());
      out = b.CreateInsertElement(out, one, lane);
    }
    return out;
  }

  // There are gathers of 32 bits: of the pair that each element is in, first for the even lanes and
  // then for the odd ones.
  Value* gather_words(llvm::IRBuilder<>& b, Value& table, Value* places, llvm::Type* type) {
    auto* pairs = llvm::FixedVectorType::get(b.getInt32Ty(), lanes_ / 2);
    Value* both = b.CreateBitCast(places, pairs);
    const auto element = [&](Value* place) {
      Value* at = b.CreateGEP(b.getInt32Ty(), &table, b.CreateLShr(place, 1));
      Value* pair = b.CreateMaskedGather(pairs, at, llvm::Align(2));
      return b.CreateLShr(pair, b.CreateShl(b.CreateAnd(place, 1), 4));
    };
    Value* even = b.CreateAnd(element(b.CreateAnd(both, 0xffff)), 0xffff);
    Value* odd = b.CreateShl(element(b.CreateLShr(both, 16)), 16);
    return b.CreateBitCast(b.CreateOr(even, odd), vector_of(type));
  }

  // Where the lanes of a number lie in memory.
  Value* words_at(llvm::IRBuilder<>& b, Value& number, llvm::Type* word) {
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&number);
        load && number.getType() == word && varies(load) &&
        is_consecutive(load->getPointerOperand(), word))
      return address(b, *load->getPointerOperand());
    llvm::IRBuilder<> entry(&*body_.getParent()->getEntryBlock().getFirstInsertionPt());
    Value* array = entry.CreateAlloca(vector_of(word));
    b.CreateStore(b.CreateTrunc(wide(b, &number), vector_of(word)), array);
    return array;
  }

  Value* widen_operation(llvm::IRBuilder<>& b, Instruction& step) {
    if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&step)) return widen_call(b, *call);
    if (const auto* choice = llvm::dyn_cast<llvm::SelectInst>(&step))
      return widen_choice(b, *choice);
    if (llvm::isa<llvm::TruncInst>(step) && step.getOperand(0) == counter_.number)
      return numbers(step.getType());
    std::vector<Value*> in;
    for (Value* operand : step.operands()) in.push_back(wide(b, operand));
    if (const auto* cast = llvm::dyn_cast<llvm::CastInst>(&step))
      return b.CreateCast(cast->getOpcode(), in[0], vector_of(step.getType()));
    if (const auto* compare = llvm::dyn_cast<llvm::CmpInst>(&step))
      return b.CreateCmp(compare->getPredicate(), in[0], in[1]);
    if (llvm::isa<llvm::FreezeInst>(step)) return b.CreateFreeze(in[0]);
    if (const auto* one = llvm::dyn_cast<llvm::UnaryOperator>(&step))
      return b.CreateUnOp(one->getOpcode(), in[0]);
    return b.CreateBinOp(llvm::cast<llvm::BinaryOperator>(step).getOpcode(), in[0], in[1]);
  }

  // One condition for all lanes stays one.
  Value* widen_choice(llvm::IRBuilder<>& b, const llvm::SelectInst& step) {
    Value* condition = step.getOperand(0);
    if (varies(condition)) condition = wide(b, condition);
    return b.CreateSelect(condition, wide(b, step.getOperand(1)), wide(b, step.getOperand(2)), "",
                          const_cast<llvm::SelectInst*>(&step));
  }

  Value* widen_call(llvm::IRBuilder<>& b, llvm::IntrinsicInst& call) {
    const llvm::Intrinsic::ID id = call.getIntrinsicID();
    std::vector<llvm::Type*> types;
    std::vector<Value*> arguments;
    if (llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, -1, &target_))
      types.push_back(vector_of(call.getType()));
    for (unsigned i = 0; i < call.arg_size(); ++i) {
      Value* argument = call.getArgOperand(i);
      if (!llvm::isVectorIntrinsicWithScalarOpAtArg(id, i, &target_)) argument = wide(b, argument);
      arguments.push_back(argument);
      if (llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, static_cast<int>(i), &target_))
        types.push_back(argument->getType());
    }
    return b.CreateIntrinsic(id, types, arguments);
  }

  llvm::Loop& loop_;
  const LoopCounter counter_;
  llvm::BasicBlock& body_;
  const llvm::DataLayout& layout_;
  const unsigned lanes_;
  const llvm::TargetTransformInfo& target_;
  const bool gathers_;  // 32 bits, sooner than single elements are read
  InterleavedAccesses interleaved_;
  bool overlaps_ = false;  // the last vector and the one before it
  std::set<const Value*> varying_;
  std::map<Value*, Value*> wide_;
};

std::optional<Widening> fitting(llvm::Loop& loop, const LoopCounter& counter, unsigned lanes,
                                const llvm::TargetTransformInfo& target) {
  std::optional<Widening> out(std::in_place, loop, counter, lanes, target);
  if (!out->fits()) out.reset();
  return out;
}

// Of up to so many lanes.
std::optional<Widening> row_of_parts(llvm::Loop& loop, const LoopCounter& counter, unsigned lanes,
                                     const llvm::TargetTransformInfo& target) {
  for (; lanes >= fewest_of_row; lanes /= 2) {
    std::optional<Widening> out = fitting(loop, counter, lanes, target);
    if (out && out->is_row_of_parts()) return out;
  }
  return std::nullopt;
}

// With the fastest number of lanes for a loop whose numbers fill a register by so many.
std::optional<Widening> fastest(llvm::Loop& loop, const LoopCounter& counter, unsigned lanes,
                                const llvm::TargetTransformInfo& target) {
  std::optional<Widening> out = fitting(loop, counter, lanes, target);
  if (!out) return row_of_parts(loop, counter, lanes / 2, target);
  if (out->has_pairs_for_doubles() && lanes > 2) return fitting(loop, counter, lanes / 2, target);
  const bool divides = divides_by_one(loop, register_bits(target));
  if (out->has_pairs_for_doubles() || (!out->waits() && !divides)) return out;
  std::optional<Widening> twice = fitting(loop, counter, 2 * lanes, target);
  return twice && !twice->overlaps() ? std::move(twice) : std::move(out);
}

}  // namespace

std::optional<unsigned> vector_width(const llvm::Loop& loop, unsigned register_bits) {
  if (loop.getNumBlocks() != 1) return std::nullopt;
  unsigned stored = 8, computed = 8;
  for (const llvm::Instruction& step : *loop.getHeader()) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&step);
    if (call && !llvm::isTriviallyVectorizable(call->getIntrinsicID())) return std::nullopt;
    if (step.isIntDivRem()) return std::nullopt;
    const llvm::Type* type = step.getType();
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&step); load && !is_table(*load))
      stored = std::max(stored, type->getScalarSizeInBits());
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&step))
      stored = std::max(stored, store->getValueOperand()->getType()->getScalarSizeInBits());
    if (type->isFloatingPointTy()) computed = std::max(computed, type->getScalarSizeInBits());
  }
  const bool is_long = loop.getHeader()->size() > long_body;
  const unsigned held = std::max(stored, is_long ? computed : std::min(computed, 32U));
  return register_bits / held;
}

unsigned register_bits(const llvm::TargetTransformInfo& target) {
  const auto bits = target.getRegisterBitWidth(llvm::TargetTransformInfo::RGK_FixedWidthVector);
  return static_cast<unsigned>(bits.getFixedValue());
}

void mark_lookup(llvm::LoadInst& load, bool has_pairs) {
  llvm::LLVMContext& context = load.getContext();
  llvm::Metadata* pairs = has_pairs ? llvm::MDString::get(context, "pairs") : nullptr;
  load.setMetadata(lookup_mark,
                   llvm::MDNode::get(context, llvm::ArrayRef(&pairs, has_pairs ? 1 : 0)));
}

llvm::PreservedAnalyses WideLoops::run(llvm::Function& function,
                                       llvm::FunctionAnalysisManager& analyses) {
  const auto& target = analyses.getResult<llvm::TargetIRAnalysis>(function);
  bool changed = false;
  for (llvm::Loop* loop : analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder()) {
    if (loop->getNumBlocks() != 1 || !loop->getLoopPreheader()) continue;
    const unsigned lanes = vector_width(*loop, register_bits(target)).value_or(1);
    if (lanes < 2 || !std::has_single_bit(lanes)) continue;
    const auto counter = find_counter(*loop);
    if (!counter) continue;
    std::optional<Widening> widening = fastest(*loop, *counter, lanes, target);
    if (!widening) continue;
    widening->widen();
    changed = true;
  }
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

}  // namespace hilo

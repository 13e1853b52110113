#include "emit/step_vectorizer.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Support/KnownBits.h>

#include "emit/kernel_hints.h"
#include "emit/loop_limits.h"
#include "emit/table_reads.h"

namespace hilo {

using llvm::Value;

namespace {

constexpr unsigned fewest_gathered = KernelLimits::widest_lanes;

}  // namespace

void StepVectorizer::add(llvm::IRBuilder<>& b, llvm::Instruction& step) {
  if (Value* vector = vectorize(b, step)) vectors_[&step] = vector;
}

llvm::VectorType* StepVectorizer::vector_of(llvm::Type* type) const {
  return llvm::FixedVectorType::get(type, of_.lanes());
}

Value* StepVectorizer::vector_of_value(llvm::IRBuilder<>& b, Value* value) {
  if (const auto known = vectors_.find(value); known != vectors_.end()) return known->second;
  if (value == of_.number()) return vectors_[value] = numbers(b, value->getType());
  if (auto* place = llvm::dyn_cast<llvm::GetElementPtrInst>(value); place && of_.varies(place))
    return places(b, *place);
  if (llvm::isa<llvm::Constant>(value)) return b.CreateVectorSplat(of_.lanes(), value);
  // Every user stands behind it.
  auto* made = llvm::dyn_cast<llvm::Instruction>(value);
  const bool is_inside = made && of_.loop().contains(made);
  llvm::IRBuilder<> at(is_inside ? made->getNextNode()
                                 : of_.loop().getLoopPredecessor()->getTerminator());
  return vectors_[value] = at.CreateVectorSplat(of_.lanes(), value);
}

// The counter, or its low bits.
Value* StepVectorizer::numbers(llvm::IRBuilder<>& b, llvm::Type* type) {
  Value* first = b.CreateTrunc(number_, type);
  return b.CreateAdd(b.CreateVectorSplat(of_.lanes(), first), b.CreateStepVector(vector_of(type)));
}

// Pointers to what lies anywhere.
Value* StepVectorizer::places(llvm::IRBuilder<>& b, llvm::GetElementPtrInst& place) {
  std::vector<Value*> indices;
  for (Value* index : place.indices())
    indices.push_back(of_.varies(index) ? vector_of_value(b, index) : index);
  Value* base = place.getPointerOperand();
  return b.CreateGEP(place.getSourceElementType(),
                     of_.varies(base) ? vector_of_value(b, base) : base, indices, "",
                     place.getNoWrapFlags());
}

// Null where users make it.
Value* StepVectorizer::vectorize(llvm::IRBuilder<>& b, llvm::Instruction& step) {
  if (llvm::isa<llvm::GetElementPtrInst>(step)) return nullptr;
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&step)) return read(b, *load);
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&step)) return write(b, *store), nullptr;
  Value* out = operation(b, step);
  if (auto* made = llvm::dyn_cast<llvm::Instruction>(out);
      made && made->getOpcode() == step.getOpcode())
    made->copyIRFlags(&step);
  return out;
}

// Of what is consecutive. The place that is there goes with the body of single elements.
Value* StepVectorizer::address(llvm::IRBuilder<>& b, Value& pointer) const {
  auto& place = llvm::cast<llvm::GetElementPtrInst>(pointer);
  Value *base = place.getPointerOperand(), *index = place.getOperand(1);
  if (of_.is_moved(place)) {
    const std::vector<Value*> indices(place.idx_begin(), place.idx_end());
    return b.CreateGEP(place.getSourceElementType(), address(b, *base), indices, "",
                       place.getNoWrapFlags());
  }
  Value* offset = *of_.offset_in(index);
  index = number_;
  if (offset) index = b.CreateAdd(offset, index, "", false, true);
  return b.CreateGEP(place.getSourceElementType(), base, index, "", place.getNoWrapFlags());
}

void StepVectorizer::write(llvm::IRBuilder<>& b, llvm::StoreInst& store) {
  Value* vector = vector_of_value(b, store.getValueOperand());
  if (of_.interleaved().find(store)) return of_.interleaved().store(b, store, vector, of_.lanes());
  Value* place = address(b, *store.getPointerOperand());
  if (mask_) b.CreateMaskedStore(vector, place, store.getAlign(), mask_);
  else b.CreateAlignedStore(vector, place, store.getAlign());
}

Value* StepVectorizer::read(llvm::IRBuilder<>& b, llvm::LoadInst& load) {
  if (of_.interleaved().find(load)) return of_.interleaved().load(b, load, of_.lanes());
  auto* type = vector_of(load.getType());
  Value* pointer = load.getPointerOperand();
  if (of_.is_consecutive(pointer, load.getType())) {
    Value* place = address(b, *pointer);
    if (mask_) return b.CreateMaskedLoad(type, place, load.getAlign(), mask_);
    return b.CreateAlignedLoad(type, place, load.getAlign());
  }
  if (Value* looked_up = load_from_table(b, load)) return looked_up;
  Value* pointers = vector_of_value(b, pointer);
  if (of_.target().isLegalMaskedGather(type, load.getAlign()) &&
      !of_.target().forceScalarizeMaskedGather(type, load.getAlign()))
    return b.CreateMaskedGather(type, pointers, load.getAlign());
  Value* out = llvm::PoisonValue::get(type);
  for (uint64_t lane = 0; lane < of_.lanes(); ++lane) {
    Value* one = b.CreateAlignedLoad(load.getType(), b.CreateExtractElement(pointers, lane),
                                     load.getAlign());
    out = b.CreateInsertElement(out, one, lane);
  }
  return out;
}

// From a table of 16 bits at places of 16 bits: pairs of elements by gathers, or single elements,
// whose places go through the frame, for those of vectors take longer. Null where it is another
// one.
Value* StepVectorizer::load_from_table(llvm::IRBuilder<>& b, llvm::LoadInst& load) {
  auto* place = llvm::dyn_cast<llvm::GetElementPtrInst>(load.getPointerOperand());
  if (!load.hasMetadata(lookup_mark) || !place || place->getNumIndices() != 1 ||
      !of_.loop().isLoopInvariant(place->getPointerOperand()))
    return nullptr;
  llvm::Type* word = b.getInt16Ty();
  Value* index = place->getOperand(1);
  if (auto* extended = llvm::dyn_cast<llvm::ZExtInst>(index)) index = extended->getOperand(0);
  if (llvm::computeKnownBits(index, of_.body().getDataLayout()).countMaxActiveBits() >
      word->getIntegerBitWidth())
    return nullptr;
  const bool has_quick_gathers = hints_of(*of_.body().getParent()).has_quick_gathers;
  if (has_quick_gathers && load.getMetadata(lookup_mark)->getNumOperands() > 0 &&
      of_.lanes() >= fewest_gathered)
    return gather_words(b, *place->getPointerOperand(),
                        b.CreateTrunc(vector_of_value(b, index), vector_of(word)), load.getType());
  Value *words = words_at(b, *index, word), *pair = nullptr;
  Value* out = llvm::PoisonValue::get(vector_of(load.getType()));
  for (uint64_t lane = 0; lane < of_.lanes(); ++lane) {
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
Value* StepVectorizer::gather_words(llvm::IRBuilder<>& b, Value& table, Value* places,
                                    llvm::Type* type) {
  auto* pairs = llvm::FixedVectorType::get(b.getInt32Ty(), of_.lanes() / 2);
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
Value* StepVectorizer::words_at(llvm::IRBuilder<>& b, Value& number, llvm::Type* word) {
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&number);
      load && number.getType() == word && of_.varies(load) &&
      of_.is_consecutive(load->getPointerOperand(), word))
    return address(b, *load->getPointerOperand());
  llvm::IRBuilder<> entry(&*of_.body().getParent()->getEntryBlock().getFirstInsertionPt());
  Value* array = entry.CreateAlloca(vector_of(word));
  b.CreateStore(b.CreateTrunc(vector_of_value(b, &number), vector_of(word)), array);
  return array;
}

Value* StepVectorizer::operation(llvm::IRBuilder<>& b, llvm::Instruction& step) {
  if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&step)) return vectorize_call(b, *call);
  if (const auto* choice = llvm::dyn_cast<llvm::SelectInst>(&step))
    return vectorize_select(b, *choice);
  if (llvm::isa<llvm::TruncInst>(step) && step.getOperand(0) == of_.number())
    return numbers(b, step.getType());
  std::vector<Value*> in;
  for (Value* operand : step.operands()) in.push_back(vector_of_value(b, operand));
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
Value* StepVectorizer::vectorize_select(llvm::IRBuilder<>& b, const llvm::SelectInst& step) {
  Value* condition = step.getOperand(0);
  if (of_.varies(condition)) condition = vector_of_value(b, condition);
  return b.CreateSelect(condition, vector_of_value(b, step.getOperand(1)),
                        vector_of_value(b, step.getOperand(2)), "",
                        const_cast<llvm::SelectInst*>(&step));
}

Value* StepVectorizer::vectorize_call(llvm::IRBuilder<>& b, llvm::IntrinsicInst& call) {
  const llvm::Intrinsic::ID id = call.getIntrinsicID();
  std::vector<llvm::Type*> types;
  std::vector<Value*> arguments;
  if (llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, -1, &of_.target()))
    types.push_back(vector_of(call.getType()));
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    Value* argument = call.getArgOperand(i);
    if (!llvm::isVectorIntrinsicWithScalarOpAtArg(id, i, &of_.target()))
      argument = vector_of_value(b, argument);
    arguments.push_back(argument);
    if (llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, static_cast<int>(i), &of_.target()))
      types.push_back(argument->getType());
  }
  return b.CreateIntrinsic(id, types, arguments);
}

}  // namespace hilo

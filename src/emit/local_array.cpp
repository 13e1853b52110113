#include "emit/local_array.h"

namespace hilo {

using llvm::Value;

LocalArray::LocalArray(Builder& b, llvm::Type* held, int64_t count)
    : b_(b),
      is_truth_(held->isIntegerTy(1)),
      type_(is_truth_ ? b.getInt8Ty() : held),
      memory_(frame_array(b, type_, count)) {}

Value* LocalArray::slot(Value* i) const { return b_.CreateInBoundsGEP(type_, memory_, i); }

Value* LocalArray::held(Value* stored) const {
  return is_truth_ ? b_.CreateTrunc(stored, stored->getType()->getWithNewBitWidth(1)) : stored;
}

Value* LocalArray::stored(Value* value) const {
  return is_truth_ ? b_.CreateZExt(value, value->getType()->getWithNewBitWidth(8)) : value;
}

Value* LocalArray::load(Value* i) const { return held(b_.CreateLoad(type_, slot(i))); }

void LocalArray::store(Value* value, Value* i) const { b_.CreateStore(stored(value), slot(i)); }

Value* LocalArray::load_lanes(int64_t first, int64_t count, uint64_t align) const {
  auto* type = llvm::FixedVectorType::get(type_, static_cast<unsigned>(count));
  return held(b_.CreateAlignedLoad(type, slot(int64(b_, first)), llvm::Align(align)));
}

void LocalArray::fill_lanes(Value* value, int64_t first, int64_t count, uint64_t align) const {
  Value* all = b_.CreateVectorSplat(static_cast<unsigned>(count), stored(value));
  b_.CreateAlignedStore(all, slot(int64(b_, first)), llvm::Align(align));
}

}  // namespace hilo

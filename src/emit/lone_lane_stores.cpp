#include "emit/lone_lane_stores.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <optional>

namespace hilo {
namespace {

std::optional<unsigned> lone_lane(const llvm::Value& mask) {
  const auto* known = llvm::dyn_cast<llvm::Constant>(&mask);
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(mask.getType());
  if (!known || !type) return std::nullopt;
  std::optional<unsigned> out;
  for (unsigned lane = 0; lane < type->getNumElements(); ++lane) {
    const llvm::Constant* bit = known->getAggregateElement(lane);
    if (bit && bit->isNullValue()) continue;
    if (!bit || !bit->isOneValue() || out) return std::nullopt;
    out = lane;
  }
  return out;
}

}  // namespace

void store_lone_lanes(llvm::Function& function) {
  const llvm::DataLayout& layout = function.getDataLayout();
  for (llvm::Instruction& step : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* store = llvm::dyn_cast<llvm::IntrinsicInst>(&step);
    if (!store || store->getIntrinsicID() != llvm::Intrinsic::masked_store) continue;
    llvm::Value *vector = store->getArgOperand(0), *place = store->getArgOperand(1);
    llvm::Type* type = vector->getType()->getScalarType();
    const std::optional<unsigned> lane = lone_lane(*store->getArgOperand(2));
    if (!lane || !layout.typeSizeEqualsStoreSize(type)) continue;
    llvm::IRBuilder<> b(store);
    const llvm::Align alignment =
        llvm::commonAlignment(store->getParamAlign(1).valueOrOne(),
                              *lane * layout.getTypeStoreSize(type).getFixedValue());
    b.CreateAlignedStore(b.CreateExtractElement(vector, *lane),
                         b.CreateConstGEP1_64(type, place, *lane), alignment)
        ->setAAMetadata(store->getAAMetadata());
    store->eraseFromParent();
  }
}

}  // namespace hilo

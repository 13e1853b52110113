#include "emit/single_lane_stores.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

namespace hilo {

void store_single_lanes(llvm::Function& function) {
  const llvm::DataLayout& layout = function.getDataLayout();
  for (llvm::Instruction& step : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* store = llvm::dyn_cast<llvm::IntrinsicInst>(&step);
    if (!store || store->getIntrinsicID() != llvm::Intrinsic::masked_store) continue;
    llvm::Value *vector = store->getArgOperand(0), *place = store->getArgOperand(1),
                *mask = store->getArgOperand(2);
    llvm::Type* type = vector->getType()->getScalarType();
    if (!llvm::isa<llvm::ConstantVector>(mask) || !layout.typeSizeEqualsStoreSize(type)) continue;
    const llvm::APInt stored = llvm::possiblyDemandedEltsInMask(mask);
    if (stored.popcount() != 1) continue;
    const unsigned lane = stored.countr_zero();
    llvm::IRBuilder<> b(store);
    const llvm::Align alignment = llvm::commonAlignment(
        store->getParamAlign(1).valueOrOne(), lane * layout.getTypeStoreSize(type).getFixedValue());
    b.CreateAlignedStore(b.CreateExtractElement(vector, lane),
                         b.CreateConstGEP1_64(type, place, lane), alignment)
        ->setAAMetadata(store->getAAMetadata());
    store->eraseFromParent();
  }
}

}  // namespace hilo

#include "emit/non_temporal_stores.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>

#include <algorithm>

#include "emit/kernel_builder.h"
#include "emit/loop_limits.h"

namespace hilo {
namespace {

constexpr uint64_t word = 32;  // bits

// The bytes of a vector that is stored to an argument, or 0.
uint64_t streamed_bytes(const llvm::StoreInst& store) {
  const llvm::Type* type = store.getValueOperand()->getType();
  if (!llvm::isa<llvm::FixedVectorType>(type) || store.isVolatile()) return 0;
  const uint64_t bits = type->getPrimitiveSizeInBits().getFixedValue();
  if (bits < 8 * narrow_vector || !llvm::isPowerOf2_64(bits)) return 0;
  return llvm::isa<llvm::Argument>(llvm::getUnderlyingObject(store.getPointerOperand())) ? bits / 8
                                                                                         : 0;
}

// Narrowing is folded into a store that has no form past the caches, unless it is hidden from the
// code generator: by an empty piece of assembly over a vector register.
void hide_narrowing(llvm::StoreInst& store, uint64_t register_bits) {
  llvm::Value* value = store.getValueOperand();
  llvm::Type* type = value->getType();
  const uint64_t bits = type->getPrimitiveSizeInBits().getFixedValue();
  if (type->getScalarSizeInBits() >= word || bits > register_bits) return;
  llvm::IRBuilder<> b(&store);
  auto* words = llvm::FixedVectorType::get(b.getInt32Ty(), static_cast<unsigned>(bits / word));
  auto* same = llvm::FunctionType::get(words, {words}, false);
  llvm::Value* hidden =
      b.CreateCall(llvm::InlineAsm::get(same, "", "=x,0", false), {b.CreateBitCast(value, words)});
  store.setOperand(0, b.CreateBitCast(hidden, type));
}

}  // namespace

void set_runs(llvm::Function& function, int64_t elements) {
  if (elements % KernelLimits::whole_lanes == 0)
    change_hints(function, [](KernelHints& hints) { hints.has_whole_runs = true; });
}

void make_stores_non_temporal(llvm::Function& function, uint64_t register_bits) {
  const KernelHints hints = hints_of(function);
  if (!hints.is_beyond_caches || !hints.has_whole_runs) return;
  if (!function.getParent()->getTargetTriple().isX86()) return;
  llvm::LLVMContext& context = function.getContext();
  auto* one = llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(context, llvm::APInt(32, 1)));
  std::vector<llvm::StoreInst*> stores;
  for (llvm::Instruction& step : llvm::instructions(function))
    if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&step); store && streamed_bytes(*store) > 0)
      stores.push_back(store);
  if (stores.empty()) return;
  for (llvm::StoreInst* store : stores) {
    store->setAlignment(llvm::Align(std::min<uint64_t>(streamed_bytes(*store), cache_line)));
    store->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(context, one));
    hide_narrowing(*store, register_bits);
  }
  for (llvm::BasicBlock& block : function)
    if (auto* end = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator()))
      llvm::IRBuilder<>(end).CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {});
}

void store_whole(llvm::Function& function) {
  for (llvm::Instruction& step : llvm::instructions(function)) {
    auto* store = llvm::dyn_cast<llvm::StoreInst>(&step);
    llvm::Value* value = store ? store->getValueOperand() : nullptr;
    auto* choice = llvm::dyn_cast_or_null<llvm::SelectInst>(value);
    if (!choice || !choice->getType()->isVectorTy()) continue;
    for (unsigned arm : {1u, 2u}) {
      auto* before = llvm::dyn_cast<llvm::LoadInst>(choice->getOperand(arm));
      if (before && before->getPointerOperand() == store->getPointerOperand())
        choice->setOperand(arm, llvm::IRBuilder<>(choice).CreateFreeze(before));
    }
  }
}

}  // namespace hilo

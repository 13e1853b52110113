#include "emit/kernel.h"

namespace hilo {
namespace {

llvm::Type* in(llvm::LLVMContext& context, const llvm::Type* type) {
  if (type->isPointerTy()) return llvm::PointerType::get(context, 0);
  if (type->isVoidTy()) return llvm::Type::getVoidTy(context);
  return llvm::Type::getIntNTy(context, type->getIntegerBitWidth());
}

}  // namespace

void show_to_parts(llvm::Function& function) {
  function.setLinkage(llvm::GlobalValue::ExternalLinkage);
  function.setVisibility(llvm::GlobalValue::HiddenVisibility);
  function.setDSOLocal(true);
}

llvm::Function* callee_in(llvm::Module& ir, llvm::Function* function) {
  if (function->getParent() == &ir) return function;
  if (llvm::Function* known = ir.getFunction(function->getName())) return known;
  llvm::LLVMContext& context = ir.getContext();
  std::vector<llvm::Type*> types;
  for (const llvm::Argument& argument : function->args())
    types.push_back(in(context, argument.getType()));
  auto* type = llvm::FunctionType::get(in(context, function->getReturnType()), types, false);
  auto* out =
      llvm::Function::Create(type, llvm::Function::ExternalLinkage, function->getName(), ir);
  show_to_parts(*out);
  out->addFnAttr(llvm::Attribute::NoUnwind);
  return out;
}

llvm::Function* tile_function(llvm::Function* kernel) {
  llvm::Module& ir = *kernel->getParent();
  Builder b(ir.getContext());
  auto* type =
      llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getInt64Ty(), b.getInt64Ty()}, false);
  auto* out = llvm::Function::Create(type, llvm::Function::InternalLinkage,
                                     kernel->getName() + ".tile", ir);
  if (!kernel->hasLocalLinkage()) show_to_parts(*out);
  out->addFnAttr(llvm::Attribute::NoUnwind);
  b.SetInsertPoint(llvm::BasicBlock::Create(b.getContext(), "", out));
  std::vector<llvm::Value*> arguments;
  for (size_t n = 0; n + 2 < kernel->arg_size(); ++n)
    arguments.push_back(
        b.CreateLoad(b.getPtrTy(), b.CreateConstInBoundsGEP1_64(b.getPtrTy(), out->getArg(0), n)));
  arguments.push_back(out->getArg(1));
  arguments.push_back(out->getArg(2));
  b.CreateCall(kernel, arguments);
  b.CreateRetVoid();
  return out;
}

std::vector<Kernel>* Kernels::find(InstructionId step, const std::vector<size_t>& arrays) {
  const auto [begin, end] = written_.equal_range(steps_.hash(step));
  for (auto at = begin; at != end; ++at)
    if (at->second->arrays == arrays && steps_.is_same(at->second->step, step))
      return &at->second->kernels;
  return nullptr;
}

std::vector<Kernel>& Kernels::add(InstructionId step, std::vector<size_t> arrays,
                                  std::vector<Kernel> kernels) {
  auto written = std::make_unique<Written>(step, std::move(arrays), std::move(kernels));
  return written_.emplace(steps_.hash(step), std::move(written))->second->kernels;
}

}  // namespace hilo

#include "emit/ready_kernels.h"

#include "emit/symbols.h"

namespace hilo {
namespace {

void call_in_chunks(Steps& steps, Kernel& kernel, std::span<llvm::Value* const> arguments) {
  Builder& b = steps.b;
  b.CreateCall(
      parallel_type(b), steps.context_field(2),
      {steps.context(), tile_of(steps, kernel), list_of(b, arguments), int64(b, kernel.count),
       int64(b, kernel.max_chunk), llvm::ConstantFP::get(b.getDoubleTy(), kernel.serial_seconds)});
}

}  // namespace

llvm::FunctionType* parallel_type(Builder& b) {
  llvm::Type* pointer = b.getPtrTy();
  return llvm::FunctionType::get(
      b.getVoidTy(), {pointer, pointer, pointer, b.getInt64Ty(), b.getInt64Ty(), b.getDoubleTy()},
      false);
}

llvm::Function* tile_of(Steps& steps, Kernel& kernel) {
  if (!kernel.tile) kernel.tile = tile_function(kernel.function);
  return callee_in(steps.program.ir, kernel.tile);
}

llvm::Value* list_of(Builder& b, std::span<llvm::Value* const> pointers) {
  llvm::Value* out = frame_array(b, b.getPtrTy(), static_cast<int64_t>(pointers.size()));
  for (size_t n = 0; n < pointers.size(); ++n)
    b.CreateStore(pointers[n], b.CreateConstInBoundsGEP1_64(b.getPtrTy(), out, n));
  return out;
}

llvm::Value* pointer_of(Steps& steps, const Array& array) {
  if (!array.constant) return steps.pointer(array.address);
  return constant_array(steps.program.ir, array.constant);
}

std::vector<llvm::Value*> pointers_of(Steps& steps, const KernelCall& call) {
  std::vector<llvm::Value*> out;
  for (const Array& array : call.arrays) out.push_back(pointer_of(steps, array));
  return out;
}

void call_kernel(Steps& steps, Kernel& kernel, std::vector<llvm::Value*> arguments) {
  if (kernel.is_shared) return call_in_chunks(steps, kernel, arguments);
  arguments.push_back(int64(steps.b, 0));
  arguments.push_back(int64(steps.b, kernel.count));
  steps.b.CreateCall(callee_in(steps.program.ir, kernel.function), arguments);
}

void call_kernels(Steps& steps, const ReadyKernels& ready) {
  const StepArrays& arrays = ready.arrays;
  if (arrays.refusal) return steps.emit_library(arrays.step, *arrays.refusal);
  if (ready.calls.empty()) return;
  for (InstructionId operand : steps.module.operands(arrays.step)) steps.to_memory(operand);
  for (const KernelCall& call : ready.calls)
    call_kernel(steps, *call.kernel, pointers_of(steps, call));
  for (const auto& [from, to] : arrays.copies)
    steps.b.CreateMemCpy(steps.pointer(to.address), llvm::Align(1), steps.pointer(from.address),
                         llvm::Align(1), static_cast<uint64_t>(to.bytes));
  steps.from_memory(arrays.step);
}

void Steps::emit_kernels(InstructionId id) { call_kernels(*this, make_kernels(*this, id)); }

}  // namespace hilo

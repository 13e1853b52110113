// The computations of a module as functions that call kernels, other computations and the run's
// context, in the order of the plan's schedule. Private to `emit`.
#pragma once

#include "emit/address.h"
#include "emit/kernel.h"
#include "emit/parts.h"
#include "emit/writer.h"

namespace hilo {

// What is shared by all computations of a module.
struct Program {
  Program(const Module& module, const Plan& plan, Parts& parts)
      : module(module),
        plan(plan),
        parts(parts),
        ir(parts.first()),
        kernels(module),
        addresses(module, plan) {}
  // No other function of the program has it.
  std::string kernel_name(InstructionId step) {
    return fmt::format("{}.{}", ++named_kernels, module[step].name);
  }

  const Module& module;
  const Plan& plan;
  Parts& parts;
  llvm::Module& ir;  // of computations: the first part
  Kernels kernels;
  Addresses addresses;
  Code code;
  int64_t scratch_bytes = 0;
  int64_t named_kernels = 0;
  int depth = 0;  // of computations that call each other
  bool tells_steps = false;
  bool needs_code = false;  // there is more than library steps
};

// int32_t(RunContext*), a RunStatus.
Result<llvm::Function*> emit_computation(Program& program, ComputationId computation);

class Steps {
 public:
  Steps(Program& program, llvm::Function* function);

  Program& program;
  const Module& module;
  Builder b;

  Result<void> emit(InstructionId id);
  // The same; where the run is told of steps and this one has code, a call that tells it.
  Result<void> emit_and_tell(InstructionId id);
  // A pointer to an array, and one of its elements that is a scalar.
  llvm::Value* pointer(Address address);
  llvm::Value* load_scalar(InstructionId id);
  // Calls a function that gives a RunStatus, and returns it where it is not Done.
  void call_checked(llvm::Function* function);
  void return_if(llvm::Value* condition, llvm::Value* status);
  llvm::Value* context() const { return function_->getArg(0); }
  // Field number of RunContext.
  llvm::Value* context_field(unsigned number);
  // The instruction's kernels; or, where it cannot be emitted, a library step.
  Result<void> emit_kernels(InstructionId id);
  Result<void> emit_library(InstructionId id, std::string reason);
  llvm::BasicBlock* new_block();

 private:
  // Where the next instruction goes: unchanged where nothing was written.
  std::pair<llvm::BasicBlock*, size_t> written() const {
    return {b.GetInsertBlock(), b.GetInsertBlock()->size()};
  }
  friend class KernelCalls;
  llvm::Function* function_;
};

}  // namespace hilo

// The computations of a module as functions that call kernels, other computations and the run's
// context, in the order of the plan's schedule. Private to `emit`.
#pragma once

#include "emit/address.h"
#include "emit/kernel.h"
#include "emit/kernel_builder.h"
#include "emit/llvm_modules.h"
#include "emit/registers.h"

namespace hilo {

// What is shared by all computations of a module.
struct Program {
  Program(const Module& module, const Plan& plan, LlvmModules& parts)
      : module(module),
        plan(plan),
        parts(parts),
        ir(parts.first()),
        kernels(module),
        addresses(module, plan),
        commands_(module.instructions.size()) {
    for (const std::vector<Command>& order : plan.commands.orders)
      for (const Command& command : order) commands_[command.instruction.value] = &command;
  }
  // What the plan says that the step is.
  const Command& command(InstructionId step) const {
    const Command* out = commands_[step.value];
    check(out, "emit: a step is a command of the plan");
    return *out;
  }
  // No other function of the program has it.
  std::string kernel_name(InstructionId step) {
    return fmt::format("{}.{}", ++named_kernels, module[step].name);
  }

  const Module& module;
  const Plan& plan;
  LlvmModules& parts;
  llvm::Module& ir;  // of computations: the first part
  Kernels kernels;
  // Of two kernels that are called in turn.
  std::map<std::pair<llvm::Function*, llvm::Function*>, Kernel> joined;
  Addresses addresses;
  Code code;
  int64_t scratch_bytes = 0;
  int64_t named_kernels = 0;
  int depth = 0;  // of computations that call each other
  bool tells_steps = false;
  bool needs_code = false;  // there is more than library steps
  bool is_object = false;   // of no process: nobody is told of its steps
  const std::atomic<bool>* interrupt = nullptr;

 private:
  std::vector<const Command*> commands_;  // by instruction; null: none
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
  // The same; where the run is told of such steps and this one has code, a call that tells it.
  Result<void> emit_and_tell(InstructionId id);
  void tell(InstructionId id);  // that it was done
  // The steps of a computation, here or in a function of their own where there are many. Its
  // parameters and its root lie where the caller has arguments and results.
  Result<void> emit_all(ComputationId computation);
  Result<void> emit_called(ComputationId computation);
  // A pointer to an array, and the only element of a value.
  llvm::Value* pointer(Address address);
  llvm::Value* load_scalar(InstructionId id);
  // Around what reads and writes the memory of values from outside of the function.
  void to_memory(InstructionId id);
  void from_memory(InstructionId id);
  // Ends the function.
  void close();
  void return_if(llvm::Value* condition, llvm::Value* status);
  llvm::Value* context() const { return function_->getArg(0); }
  // Field number of RunContext.
  llvm::Value* context_field(unsigned number);
  // Calls a field that gives a RunStatus; other than Done ends the run.
  void call_or_return(unsigned field, std::initializer_list<llvm::Value*> arguments);
  // The instruction's kernels; or, where its command is none, a library step.
  void emit_kernels(InstructionId id);
  void emit_library(InstructionId id, std::string reason);
  // Its number, for a call in which its operands are read.
  uint64_t add_library_step(InstructionId id, std::string reason);
  // Where an operand of a product of pieces lies in this call of the step.
  Address slice_address(InstructionId step, const OperandSlice& piece, ElementType type,
                        Address whole);
  llvm::BasicBlock* new_block();

 private:
  bool is_told(InstructionId id) const;
  template <class Body>
  void for_each_held(InstructionId id, Body&& body);
  // The last instruction that stands, and its block: unchanged where nothing was written.
  std::pair<llvm::BasicBlock*, llvm::Instruction*> written() const {
    llvm::BasicBlock* block = b.GetInsertBlock();
    return {block, block->empty() ? nullptr : &block->back()};
  }
  llvm::Value* base(uint32_t allocation);  // pointer
  friend class KernelWriting;
  llvm::Function* function_;
  Builder first_;  // in a block of what the whole run does not change
  Registers registers_;
  std::map<uint32_t, llvm::Value*> bases_;  // of allocations
  std::map<unsigned, llvm::Value*> fields_;
  size_t inlined_ = 0;  // instructions of called computations
  int inlined_depth_ = 0;
};

}  // namespace hilo

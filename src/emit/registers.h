// Small values of a function as SSA values. Private to `emit`.
//
// Each place of the plan whose value has 1, 2, 4 or 8 bytes has a register here, which the
// function's own steps read and write instead of the memory. The memory is brought up to date
// before others read it (kernels, library steps, functions that are called, who reads the results),
// and the register after others wrote it. The memory of constants is read where it lies.
#pragma once

#include <llvm/IR/Instructions.h>

#include <map>

#include "emit/emit.h"
#include "emit/ir_types.h"

namespace hilo {

class Registers {
 public:
  Registers(const Plan& plan, llvm::Function* function) : plan_(plan), function_(function) {}

  bool hold(Address address, const Shape& shape) const;
  // The element of a value that is held, in the held type.
  llvm::Value* load(Builder& b, Address address, const Shape& shape);
  void store(Builder& b, Address address, const Shape& shape, llvm::Value* held);
  // Copies of a value that is held, between its register and its place.
  void to_memory(Builder& b, Address address, const Shape& shape, llvm::Value* place);
  void from_memory(Builder& b, Address address, const Shape& shape, llvm::Value* place);
  // Makes SSA values of all registers; the function must be complete.
  void promote();

 private:
  struct Register {
    llvm::AllocaInst* memory = nullptr;
    bool is_written = false;  // by the function itself: else the place is always up to date
    std::vector<llvm::Instruction*> copies;  // to the place
  };
  Register& of(Builder& b, Address address, const Shape& shape);
  llvm::Value* raw(Builder& b, Register& from, llvm::Type* type);

  const Plan& plan_;
  llvm::Function* function_;
  std::map<std::tuple<uint32_t, int64_t, int64_t>, Register> registers_;
};

}  // namespace hilo

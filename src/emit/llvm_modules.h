// The LLVM modules that a program is made of. Each has its own context, so that threads can make
// code of several at once; small programs have one. Private to `emit`.
#pragma once

#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Module.h>
#include <llvm/TargetParser/Triple.h>

#include <memory>
#include <string>
#include <vector>

#include "emit/vector_registers.h"

namespace hilo {

class LlvmModules {
 public:
  // For the chip of this process, with these registers. whole: there is one part, however large it
  // is.
  LlvmModules(std::string name, const VectorRegisters& registers, bool whole);

  // The part with the computations.
  llvm::Module& first() { return *parts_[0].ir; }
  // The part that the next kernel goes into.
  llvm::Module& current();
  // Says that current() got this function.
  void added(const llvm::Function& function);
  size_t size() const { return parts_.size(); }
  llvm::Module& operator[](size_t i) { return *parts_[i].ir; }
  void drop(size_t i);

 private:
  struct Part {
    std::unique_ptr<llvm::LLVMContext> context;
    std::unique_ptr<llvm::Module> ir;  // goes before its context
  };
  void begin();

  std::string name_;
  llvm::Triple triple_;
  llvm::DataLayout layout_;
  VectorRegisters registers_;
  bool whole_;
  std::vector<Part> parts_;
  size_t instructions_ = 0;  // of kernels in the last one
};

}  // namespace hilo

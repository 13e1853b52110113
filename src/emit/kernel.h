// Kernels that were written, and which steps share them. Private to `emit`.
#pragma once

#include <unordered_map>

#include "emit/loops.h"
#include "emit/same_steps.h"

namespace hilo {

// A function over arrays and [begin, end), in one of the program's parts.
struct Kernel {
  llvm::Function* function = nullptr;
  llvm::Function* tile = nullptr;  // a TileFunction that calls it, made where it is needed
  int64_t count = 1;               // iterations
  double steps_each = 1;           // elementary steps of an iteration
  ResultBlock block = {};
  int64_t long_chunk = 1;  // KernelBuilder::set_long_chunk

  bool pays_threads() const;
  int64_t grain() const;  // iterations of a piece
};

// Functions of one part may be called from others.
void show_to_parts(llvm::Function& function);
// The function as who stands in `ir` calls it.
llvm::Function* callee_in(llvm::Module& ir, llvm::Function* function);
// A TileFunction that hands its arrays to the kernel, beside it.
llvm::Function* tile_function(llvm::Function* kernel);

// Steps that do the same over arrays that stand to each other in the same way share their kernels.
class Kernels {
 public:
  explicit Kernels(const Module& module) : steps_(module) {}

  // `arrays`: which of a kernel's arrays each operand and result is, and whatever else decides how
  // the step is written. Null where there is no such step.
  std::vector<Kernel>* find(InstructionId step, const std::vector<size_t>& arrays);
  std::vector<Kernel>& add(InstructionId step, std::vector<size_t> arrays,
                           std::vector<Kernel> kernels);

 private:
  struct Written {
    InstructionId step;
    std::vector<size_t> arrays;
    std::vector<Kernel> kernels;
  };
  SameSteps steps_;
  std::unordered_multimap<size_t, std::unique_ptr<Written>> written_;  // by hash of the step
};

}  // namespace hilo

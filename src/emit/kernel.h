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
  ResultBlock block = {};
  int64_t max_chunk = 0;      // KernelBuilder::set_max_chunk
  bool is_shared = false;     // by threads, where a run has several
  double serial_seconds = 0;  // of all iterations, as the command's cost has it
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

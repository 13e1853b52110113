// Steps that run in the evaluator, one instruction at a time. Private to `compile`.
#pragma once

#include "emit/emit.h"
#include "eval/eval.h"

namespace hilo {

class LibrarySteps {
 public:
  LibrarySteps(const Module& module, std::span<const LibraryStep> steps,
               const EvalOptions& options);

  // Reads the operands of step `number` and writes its results in this memory.
  Result<void> run(int64_t number, std::byte* const* memory,
                   const std::atomic<bool>* interrupt) const;

 private:
  Module module_;  // with a computation for each step
  std::vector<LibraryStep> steps_;
  std::vector<ComputationId> computations_;
  std::vector<int64_t> bytes_;  // of operands and results, by step
  EvalOptions options_;
};

}  // namespace hilo

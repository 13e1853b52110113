// Library steps whose ops have routines: these are called with the addresses of the arrays, without
// values made around them. Private to `compile`.
#pragma once

#include "compile/library_steps.h"
#include "kernels/kernels.h"

namespace hilo {

struct RoutineStep {
  Routine routine;                         // empty: the evaluator does the step
  std::vector<Address> operands, results;  // leaves

  void run(const DeviceMemory& memory, const Parallel& parallel) const;
  // False where the routine does not tell its parts: see Routine.
  bool run_in_parts(const DeviceMemory& memory, const Parallel& parallel, int64_t width,
                    const TakePart& take) const;

 private:
  struct Pointers {
    std::vector<const std::byte*> from;
    std::vector<std::byte*> to;
  };
  Pointers pointers(const DeviceMemory& memory) const;
};

// One for each of the steps. `module` must outlive them.
std::vector<RoutineStep> find_routines(const Module& module, std::span<const LibraryStep> steps,
                                       const EvalOptions& options);

}  // namespace hilo

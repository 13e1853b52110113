// Library steps whose ops have routines: these are called with the addresses of the arrays, without
// values made around them. Private to `compile`.
#pragma once

#include "compile/library_steps.h"

namespace hilo {

struct RoutineStep {
  Routine routine;                         // empty: the evaluator does the step
  std::vector<Address> operands, results;  // leaves

  void run(const DeviceMemory& memory, const Parallel& parallel) const;
};

// One for each of the steps. `module` must outlive them.
std::vector<RoutineStep> find_routines(const Module& module, std::span<const LibraryStep> steps,
                                       const EvalOptions& options);

}  // namespace hilo

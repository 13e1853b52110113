// What an object file keeps of the steps that Hilo's run time does for it. Private to `compile`.
#pragma once

#include "emit/emit.h"
#include "eval/eval.h"

namespace hilo {

struct ObjectSteps {
  Module module;  // of the steps alone: parameters for what they read, and a tuple of their results
  std::vector<LibraryStep> steps;
  int threads = 1;  // 0: usable_cores() where the object runs
};

// A line for the form's version and the threads, one for each step with its places in memory
// (ALLOCATION+OFFSET, operands' leaves before those of the result), an empty one, and the module as
// HLO text. `module` holds the steps anywhere.
std::string text_of_steps(const Module& module, std::span<const LibraryStep> steps, int threads);

// The inverse. Format for a text of another version.
Result<ObjectSteps> read_steps(std::string_view text);

// Unsupported, with a place, for a step that cannot be done without what only a process with Hilo
// in it has: meetings of several devices, other people's custom calls, feeds, dynamic sizes at the
// border of the module.
Result<void> check_object_steps(const Module& module, std::span<const LibraryStep> steps,
                                const EvalOptions& options);

}  // namespace hilo

// The forms that a module takes on its way: after each pass of ours, or as XLA dumped them. Private
// to `tools`.
#pragma once

#include "target/target.h"
#include "tools/dump_folder.h"

namespace hilo::tools {

struct Stages {
  std::vector<std::string> names;              // in order: a pass that made it, or a file
  std::function<Result<Module>(size_t)> make;  // anew, from 0 to names.size() - 1
  bool are_files = false;                      // else stage 0 is the module as it was read
};

// Runs passes over the module and tells the observer of each; ends with the observer's error.
using RunPasses = std::function<Result<void>(Module& module, const PassObserver& observer)>;
// Those that changed the module. It must verify.
Result<Stages> stages_of_passes(std::shared_ptr<const Module> module, RunPasses run);

// Files in the order given, or the stages of a dump folder's module in the order of XLA's pipeline.
Result<Stages> stages_of_files(const std::vector<std::string>& paths, const StageChoice& choice);

}  // namespace hilo::tools

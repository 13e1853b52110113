// Front door of `pass`: one file a pass, every pass of one type. A pass returns whether it changed
// the module; what it needs beyond the module stands in PassOptions.
#pragma once

#include "analysis/analysis.h"
#include "machine/machine.h"

namespace hilo {

struct PassOptions {
  const Machine* machine = nullptr;
};

// Copies where aliases would make one buffer hold two values at once, and nowhere else: while
// carries, donated parameters, results that must not share. See copy_insertion.cpp.
Result<bool> insert_copies(Module& module, const PassOptions& options);

}  // namespace hilo

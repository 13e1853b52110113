// Private to `target`.
#pragma once

#include "pass/pass.h"

namespace hilo {

// Passes; see fuse_loops.cpp.
Result<bool> fuse_loops(Module& module, const PassOptions& options);
Result<bool> share_reshapes(Module& module, const PassOptions& options);

}  // namespace hilo

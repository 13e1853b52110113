// Private to `target`.
#pragma once

#include "pass/pass.h"

namespace hilo {

// A pass; see canonicalize_convolutions.cpp.
Result<bool> canonicalize_convolutions_for_loops(Module& module, const PassOptions& options);

}  // namespace hilo

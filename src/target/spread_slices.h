// Private to `target`.
#pragma once

#include "pass/pass.h"

namespace hilo {

// A pass; see spread_slices.cpp.
Result<bool> compute_spread_slices(Module& module, const PassOptions& options);

}  // namespace hilo

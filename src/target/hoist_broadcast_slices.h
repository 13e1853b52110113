// Private to `target`.
#pragma once

#include "pass/pass.h"

namespace hilo {

// A pass; see hoist_broadcast_slices.cpp.
Result<bool> hoist_broadcast_slices(Module& module, const PassOptions& options);

}  // namespace hilo

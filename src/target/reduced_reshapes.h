// Private to `target`.
#pragma once

#include "pass/pass.h"

namespace hilo {

// A pass; see reduced_reshapes.cpp.
Result<bool> reshape_before_elementwise(Module& module, const PassOptions& options);

}  // namespace hilo

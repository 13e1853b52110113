// Private to `target`.
#pragma once

#include "pass/pass.h"

namespace hilo {

// A pass; see open_fusions.cpp.
Result<bool> open_fusions(Module& module, const PassOptions& options);

}  // namespace hilo

// Private to `target`.
#pragma once

#include "pass/pass.h"

namespace hilo {

// A pass; see inline_fusions.cpp.
Result<bool> inline_fusions(Module& module, const PassOptions& options);

}  // namespace hilo

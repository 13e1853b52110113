// Private to `target`.
#pragma once

#include "pass/pass.h"

namespace hilo {

// A pass; see stated_aliasing.cpp.
Result<bool> forget_stated_aliasing(Module& module, const PassOptions& options);

}  // namespace hilo

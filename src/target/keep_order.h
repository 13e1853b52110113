// Private to `target`.
#pragma once

#include "pass/pass.h"

namespace hilo {

// A pass; see keep_order.cpp.
Result<bool> keep_order(Module& module, const PassOptions& options);

}  // namespace hilo

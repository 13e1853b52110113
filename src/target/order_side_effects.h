// Private to `target`.
#pragma once

#include "pass/pass.h"

namespace hilo {

// A pass; see order_side_effects.cpp.
Result<bool> order_side_effects(Module& module, const PassOptions& options);

}  // namespace hilo

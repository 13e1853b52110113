// Moves that change the element type. Private to `target`.
#pragma once

#include "pass/pass.h"

namespace hilo {

Result<bool> move_in_one_type(Module& module, const PassOptions& options);

}  // namespace hilo

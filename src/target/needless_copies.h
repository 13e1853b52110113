// Copies between layouts. Private to `target`.
#pragma once

#include "pass/pass.h"

namespace hilo {

Result<bool> remove_copies(Module& module, const PassOptions& options);

}  // namespace hilo

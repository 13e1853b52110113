// Removes copies between layouts and memories. Private to `target`.
#pragma once

#include "pass/pass.h"

namespace hilo {

Result<bool> remove_layout_copies(Module& module, const PassOptions& options);

}  // namespace hilo

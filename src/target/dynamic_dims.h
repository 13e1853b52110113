// Which dimensions are dynamic. Private to `target`.
#pragma once

#include "pass/pass.h"

namespace hilo {

Result<bool> mark_dynamic_dims(Module& module, const PassOptions& options);

}  // namespace hilo

// Collectives that stand twice. Private to `target`.
#pragma once

#include "pass/pass.h"

namespace hilo {

Result<bool> merge_collectives(Module& module, const PassOptions& options);

}  // namespace hilo

// Private to `target`.
#pragma once

#include "pass/pass.h"

namespace hilo {

Result<bool> fuse_scalar_scatter(Module& module, const PassOptions& options);

}  // namespace hilo

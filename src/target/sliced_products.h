// Private to `target`.
#pragma once

#include "pass/pass.h"

namespace hilo {

Result<bool> fuse_sliced_products(Module& module, const PassOptions& options);

}  // namespace hilo

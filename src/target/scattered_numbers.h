// Private to `target`.
#pragma once

#include "pass/pass.h"

namespace hilo {

Result<bool> fuse_scattered_numbers(Module& module, const PassOptions& options);

}  // namespace hilo

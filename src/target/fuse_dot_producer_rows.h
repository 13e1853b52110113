// Private to `target`.
#pragma once

#include "pass/pass.h"

namespace hilo {

// A pass; see fuse_dot_producer_rows.cpp.
Result<bool> fuse_dot_producer_rows(Module& module, const PassOptions& options);

}  // namespace hilo

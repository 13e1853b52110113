// Private to `target`.
#pragma once

#include "pass/pass.h"

namespace hilo {

// A pass; see padded_windows.cpp.
Result<bool> pad_by_windows(Module& module, const PassOptions& options);

}  // namespace hilo

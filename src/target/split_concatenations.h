// Private to `target`.
#pragma once

#include "pass/pass.h"

namespace hilo {

// A pass; see split_concatenations.cpp.
Result<bool> split_concatenations(Module& module, const PassOptions& options);

}  // namespace hilo

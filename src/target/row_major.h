// Private to `target`.
#pragma once

#include "pass/pass.h"

namespace hilo {

// A pass; see row_major.cpp.
Result<bool> put_in_row_major(Module& module, const PassOptions& options);

}  // namespace hilo

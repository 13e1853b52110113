// Private to `target`.
#pragma once

#include "pass/pass.h"

namespace hilo {

// A pass; see function_tables.cpp.
Result<bool> tabulate_functions(Module& module, const PassOptions& options);

}  // namespace hilo

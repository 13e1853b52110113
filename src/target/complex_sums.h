// Private to `target`.
#pragma once

#include "pass/pass.h"

namespace hilo {

// A pass; see complex_sums.cpp.
Result<bool> sum_complex_parts(Module& module, const PassOptions& options);

}  // namespace hilo

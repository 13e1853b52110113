// Conversions that products need not. Private to `target`.
#pragma once

#include "pass/pass.h"

namespace hilo {

Result<bool> read_narrow_operands(Module& module, const PassOptions& options);  // of products

}  // namespace hilo

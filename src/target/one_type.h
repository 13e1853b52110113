// Conversions that moves are, and that products need not. Private to `target`.
#pragma once

#include "pass/pass.h"

namespace hilo {

Result<bool> move_in_one_type(Module& module, const PassOptions& options);
Result<bool> read_narrow_operands(Module& module, const PassOptions& options);  // of products

}  // namespace hilo

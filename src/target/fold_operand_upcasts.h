// Folds upcasts of operands into products. Private to `target`.
#pragma once

#include "pass/pass.h"

namespace hilo {

Result<bool> fold_operand_upcasts(Module& module, const PassOptions& options);  // of products

}  // namespace hilo

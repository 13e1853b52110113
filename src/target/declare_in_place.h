// Private to `target`.
#pragma once

#include "pass/pass.h"

namespace hilo {

// A fusion that works row by row, as softmax does, may write over an operand of which each row
// needs no other row than its own, and one that works element by element over an operand that it
// reads in other dimensions: it is declared in the backend config, where the plan looks.
Result<bool> declare_in_place(Module& module, const PassOptions& options);

}  // namespace hilo

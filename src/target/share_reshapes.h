// Private to `target`.
#pragma once

#include "pass/pass.h"

namespace hilo {

// A reshape outside of fusions moves nothing: it is the same bytes under another shape, which is
// what bitcast says and what the plan gives one place.
Result<bool> share_reshapes(Module& module, const PassOptions& options);

}  // namespace hilo

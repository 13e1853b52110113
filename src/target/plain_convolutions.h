// Private to `target`.
#pragma once

#include "pass/pass.h"

namespace hilo {

// A pass; see plain_convolutions.cpp.
Result<bool> make_convolutions_plain(Module& module, const PassOptions& options);

}  // namespace hilo

// Private to `target`.
#pragma once

#include "pass/pass.h"

namespace hilo {

// A pass; see made_parts.cpp.
Result<bool> make_parts_of_products(Module& module, const PassOptions& options);

}  // namespace hilo

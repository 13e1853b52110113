// Private to `target`.
#pragma once

#include "pass/pass.h"

namespace hilo {

// A pass; see short_products.cpp.
Result<bool> make_short_products_sums(Module& module, const PassOptions& options);

}  // namespace hilo

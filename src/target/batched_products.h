// Private to `target`.
#pragma once

#include "pass/pass.h"

namespace hilo {

// A pass; see batched_products.cpp.
Result<bool> make_products_batched(Module& module, const PassOptions& options);

}  // namespace hilo

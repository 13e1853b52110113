// Private to `target`.
#pragma once

#include "pass/pass.h"

namespace hilo {

// A pass; see made_rows.cpp.
Result<bool> make_rows_of_products(Module& module, const PassOptions& options);

}  // namespace hilo

// Passes that put products in forms with fast loops. Private to `target`.
#pragma once

#include "pass/pass.h"

namespace hilo {

// Each: see the file that its comment names.
using ProductPass = Result<bool>(Module& module, const PassOptions& options);
ProductPass expand_small_dots;      // expand_small_dots.cpp
ProductPass make_products_batched;  // batched_products.cpp
ProductPass fuse_sliced_products;   // sliced_products.cpp
ProductPass transpose_operands;     // transpose_operands.cpp

}  // namespace hilo

// Private to `target`.
#pragma once

#include "ir/ir.h"

namespace hilo {

// By computation: whether a fusion calls it.
std::vector<bool> fused_computations(const Module& module);

}  // namespace hilo

// One module within another. Private to `pjrt`.
#pragma once

#include "ir/ir.h"

namespace hilo::pjrt {

// Adds what the entry of `from` reaches; all has that metadata. Returns the entry's copy.
ComputationId append_module(Module& into, const Module& from, MetadataId metadata);

}  // namespace hilo::pjrt

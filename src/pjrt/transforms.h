// Functions of a client's that change modules while they are compiled. Private to `pjrt`.
#pragma once

#include "pjrt/program.h"

namespace hilo::pjrt {

// For the compilation of a source, which must stay while it goes on: asks the registered functions
// in their order and keeps in the source what they have made; of one that was loaded, takes this
// from it. Empty where there is nothing to do.
ModuleTransform transform_of(ProgramSource& source);

}  // namespace hilo::pjrt

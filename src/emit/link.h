// Object files into memory of this process. Private to `emit`.
#pragma once

#include <llvm/Support/MemoryBuffer.h>

#include "emit/emit.h"

namespace hilo {

// They may call each other's functions and the C library's, and read constants of the module;
// code.run becomes their function "run", code.keeper owns all of them.
Result<void> link(std::span<const std::unique_ptr<llvm::MemoryBuffer>> objects,
                  const Module& module, Code& code);

}  // namespace hilo

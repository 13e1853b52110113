// The vector registers of the chip that code is made for. Private to `emit`.
#pragma once

#include <llvm/IR/Module.h>

#include "emit/emit.h"

namespace hilo {

// Of the chip that the options name. Fails as find_chip() does.
Result<VectorRegisters> find_vector_registers(const EmitOptions& options);
// As a module says it to the writers of its functions.
void set_vector_registers(llvm::Module& ir, const VectorRegisters& registers);
VectorRegisters vector_registers(const llvm::Module& ir);

}  // namespace hilo

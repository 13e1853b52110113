// The vector registers that the sums of a product's block are kept in: a block of more sums than
// there are registers is through memory at each step. Private to `emit`.
#pragma once

#include <llvm/IR/Module.h>

#include "emit/emit.h"

namespace hilo {

struct VectorRegisters {
  int64_t count = 16, bytes = 16;  // of SSE

  bool are_many() const { return count > 16; }
  // Elements of so many bytes in one of them.
  int64_t lanes(int64_t element_bytes) const { return bytes / element_bytes; }
  // Whether one is read with a mask as fast as without.
  bool have_masks(int64_t element_bytes) const {
    return bytes >= 64 || (bytes == 32 && element_bytes >= 4);
  }
};

// Of the chip that the options name. Fails as find_chip() does.
Result<VectorRegisters> find_vector_registers(const EmitOptions& options);
// As a module says it to the writers of its functions.
void set_vector_registers(llvm::Module& ir, const VectorRegisters& registers);
VectorRegisters vector_registers(const llvm::Module& ir);

}  // namespace hilo

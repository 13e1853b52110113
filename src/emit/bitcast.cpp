#include "emit/op_functions.h"

namespace hilo {

// Layouts are those of arrays in order when code is emitted, so that a bitcast is a reshape.
llvm::Value* element_Bitcast(ElementEmitter& e, InstructionId id, const Index& index, size_t) {
  return e.operand(id, 0, e.reshaped(index, e.module.shape(e.module.operand(id, 0)).dims));
}

}  // namespace hilo

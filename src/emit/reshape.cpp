#include "emit/op_functions.h"

namespace hilo {

llvm::Value* element_Reshape(ElementEmitter& e, InstructionId id, const Index& index, size_t) {
  return e.operand(id, 0, e.reshaped(index, e.module.shape(e.module.operand(id, 0)).dims));
}

}  // namespace hilo

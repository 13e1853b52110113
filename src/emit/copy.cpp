#include "emit/op_functions.h"

namespace hilo {

llvm::Value* element_Copy(ElementEmitter& e, InstructionId id, const Index& index, size_t leaf) {
  return e.at(e.module.operand(id, 0), index, leaf);
}

}  // namespace hilo

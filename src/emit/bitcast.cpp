#include "emit/op_functions.h"

namespace hilo {

// Layouts are those of arrays in order when code is emitted, so that a bitcast is a reshape.
llvm::Value* element_Bitcast(ElementEmitter& e, InstructionId id, const Index& index, size_t) {
  const Shape& from = e.module.shape(e.module.operand(id, 0));
  if (from.type != e.module.shape(id).type) return e.unsupported(id, "to another element type");
  return e.operand(id, 0, e.reshaped(index, from.dims));
}

}  // namespace hilo

#include "emit/op_functions.h"

namespace hilo {

llvm::Value* element_Reshape(Elements& e, InstructionId id, const Index& index, size_t) {
  const Dims& from = e.module.shape(e.module.operand(id, 0)).dims;
  const auto bounds = [&](llvm::Value* place, int64_t size) { return e.bounds(place, size); };
  return e.operand(id, 0, index.reshaped(e.b, from, bounds));
}

}  // namespace hilo

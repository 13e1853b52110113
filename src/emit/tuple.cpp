#include "emit/op_functions.h"

namespace hilo {

llvm::Value* element_Tuple(ElementEmitter& e, InstructionId id, const Index& index, size_t leaf) {
  const Shape& shape = e.module.shape(id);
  size_t element = 0;
  while (leaf >= static_cast<size_t>(leaf_count(shape.elements[element])))
    leaf -= static_cast<size_t>(leaf_count(shape.elements[element++]));
  return e.at(e.module.operand(id, element), index, leaf);
}

}  // namespace hilo

#include "emit/scalars.h"

namespace hilo {

llvm::Value* element_BitcastConvert(Elements& e, InstructionId id, const Index& index, size_t) {
  const Shape& from = e.module.shape(e.module.operand(id, 0));
  const ElementType to = e.module.shape(id).type;
  if (bits_of(from.type) != bits_of(to) || from.dims != e.module.shape(id).dims)
    return e.unsupported(id, "to elements of another width");
  llvm::Value* held = e.operand(id, 0, index);
  return element_of_bits(e.b, to, bits_of_element(e.b, from.type, held));
}

}  // namespace hilo

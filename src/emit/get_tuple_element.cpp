#include "emit/op_functions.h"
#include "plan/plan.h"

namespace hilo {

llvm::Value* element_GetTupleElement(ElementEmitter& e, InstructionId id, const Index& index,
                                     size_t leaf) {
  const InstructionId tuple = e.module.operand(id, 0);
  const auto element =
      static_cast<size_t>(e.module.attributes<GetTupleElementAttributes>(id).index);
  return e.at(tuple, index, first_leaf(e.module.shape(tuple), element) + leaf);
}

}  // namespace hilo

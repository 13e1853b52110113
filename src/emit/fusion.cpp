#include "emit/op_functions.h"

namespace hilo {

llvm::Value* element_Fusion(ElementEmitter& e, InstructionId id, const Index& index, size_t leaf) {
  e.bind_fusion(id);
  return e.at(e.module[e.module.attributes<FusionAttributes>(id).calls].root, index, leaf);
}

}  // namespace hilo

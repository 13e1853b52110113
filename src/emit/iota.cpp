#include "emit/op_functions.h"
#include "emit/scalars.h"

namespace hilo {

llvm::Value* element_Iota(Elements& e, InstructionId id, const Index& index, size_t) {
  const ElementType type = e.module.shape(id).type;
  const auto dim = static_cast<size_t>(e.module.attributes<IotaAttributes>(id).iota_dimension);
  return convert(e.b, ElementType::S64, type, index.at(e.b, dim));
}

}  // namespace hilo

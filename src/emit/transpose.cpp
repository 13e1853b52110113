#include "emit/op_functions.h"

namespace hilo {

llvm::Value* element_Transpose(ElementEmitter& e, InstructionId id, const Index& index, size_t) {
  const Dims& dims = e.module.shape(e.module.operand(id, 0)).dims;
  const Dims& from = e.module.attributes<DimensionsAttributes>(id).dimensions;
  std::vector<llvm::Value*> at(dims.size());
  for (size_t d = 0; d < dims.size(); ++d) at[static_cast<size_t>(from[d])] = index.at(e.b, d);
  return e.operand(id, 0, Index(e.b, dims, std::move(at)));
}

}  // namespace hilo

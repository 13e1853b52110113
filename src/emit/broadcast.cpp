#include "emit/op_functions.h"

namespace hilo {

llvm::Value* element_Broadcast(ElementEmitter& e, InstructionId id, const Index& index, size_t) {
  const Dims& dims = e.module.shape(e.module.operand(id, 0)).dims;
  const Dims& to = e.module.attributes<DimensionsAttributes>(id).dimensions;
  std::vector<llvm::Value*> at;
  for (size_t d = 0; d < dims.size(); ++d)
    at.push_back(dims[d] == 1 ? int64(e.b, 0) : index.at(e.b, static_cast<size_t>(to[d])));
  return e.operand(id, 0, Index(e.b, dims, std::move(at)));
}

}  // namespace hilo

#include "emit/op_functions.h"

namespace hilo {

// Starts are moved so that the slice lies inside.
llvm::Value* element_DynamicSlice(ElementEmitter& e, InstructionId id, const Index& index, size_t) {
  const Dims& dims = e.module.shape(e.module.operand(id, 0)).dims;
  const Dims& sizes = e.module.shape(id).dims;
  std::vector<llvm::Value*> at;
  for (size_t d = 0; d < dims.size(); ++d) {
    llvm::Value* start = clamp_index(e.b, e.index_operand(id, d + 1), 0, dims[d] - sizes[d]);
    at.push_back(add_index(e.b, start, index.at(e.b, d)));
  }
  return e.operand(id, 0, Index(e.b, dims, std::move(at)));
}

}  // namespace hilo

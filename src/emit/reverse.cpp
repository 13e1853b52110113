#include <algorithm>

#include "emit/op_functions.h"

namespace hilo {

llvm::Value* element_Reverse(Elements& e, InstructionId id, const Index& index, size_t) {
  const Dims& dims = e.module.shape(id).dims;
  const Dims& reversed = e.module.attributes<DimensionsAttributes>(id).dimensions;
  std::vector<llvm::Value*> at;
  for (size_t d = 0; d < dims.size(); ++d) {
    llvm::Value* from = index.at(e.b, d);
    const bool turned = std::ranges::count(reversed, static_cast<int64_t>(d)) > 0;
    at.push_back(turned ? e.b.CreateNSWSub(int64(e.b, dims[d] - 1), from) : from);
  }
  return e.operand(id, 0, Index(e.b, dims, std::move(at)));
}

}  // namespace hilo

#include "emit/op_functions.h"

namespace hilo {

// Each operand is read at the nearest place that it has, and the value chosen afterwards.
llvm::Value* element_Concatenate(Elements& e, InstructionId id, const Index& index, size_t) {
  Builder& b = e.b;
  const auto dim = static_cast<size_t>(e.module.attributes<DimensionsAttributes>(id).dimensions[0]);
  llvm::Value* chosen = nullptr;
  int64_t start = 0;
  for (size_t i = 0; i < e.module.operands(id).size(); ++i) {
    const Dims& dims = e.module.shape(e.module.operand(id, i)).dims;
    if (dims[dim] == 0) continue;
    llvm::Value* from = b.CreateNSWSub(index.at(b, dim), int64(b, start));
    std::vector<llvm::Value*> at;
    for (size_t d = 0; d < dims.size(); ++d)
      at.push_back(d == dim ? clamp_index(b, from, 0, dims[d] - 1) : index.at(b, d));
    llvm::Value* value = e.operand(id, i, Index(b, dims, std::move(at)));
    llvm::Value* reached = b.CreateICmpSGE(from, int64(b, 0));
    chosen = chosen ? b.CreateSelect(reached, value, chosen) : value;
    start += dims[dim];
  }
  return chosen ? chosen : e.unsupported(id, "no elements");
}

}  // namespace hilo

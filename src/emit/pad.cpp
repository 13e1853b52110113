#include "emit/op_functions.h"

namespace hilo {

// The operand is read at the nearest place that it has, and the value chosen afterwards.
llvm::Value* element_Pad(Elements& e, InstructionId id, const Index& index, size_t) {
  Builder& b = e.b;
  const Dims& dims = e.module.shape(e.module.operand(id, 0)).dims;
  const std::vector<PaddingDim>& padding = e.module.attributes<PadAttributes>(id).padding.dims;
  llvm::Value* inside = b.getTrue();
  std::vector<llvm::Value*> at;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == 0) return e.operand(id, 1, Index::scalar(b));
    llvm::Value* from = b.CreateNSWSub(index.at(b, d), int64(b, padding[d].low));
    const int64_t step = padding[d].interior + 1;
    if (step > 1) {
      llvm::Value* whole = b.CreateICmpEQ(b.CreateSRem(from, int64(b, step)), int64(b, 0));
      llvm::Value* not_before = b.CreateICmpSGE(from, int64(b, 0));
      from = b.CreateSDiv(from, int64(b, step));
      inside = b.CreateAnd(inside, b.CreateAnd(whole, not_before));
    }
    inside = b.CreateAnd(inside, is_place(b, from, dims[d]));
    at.push_back(clamp_index(b, from, 0, dims[d] - 1));
  }
  llvm::Value* value = e.operand(id, 0, Index(b, dims, std::move(at)));
  return b.CreateSelect(inside, value, e.operand(id, 1, Index::scalar(b)));
}

}  // namespace hilo

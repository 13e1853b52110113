#include "analysis/analysis.h"
#include "emit/op_functions.h"

namespace hilo {

llvm::Value* element_Slice(ElementEmitter& e, InstructionId id, const Index& index, size_t) {
  const std::vector<SliceDim>& slice = e.module.attributes<SliceAttributes>(id).slice.dims;
  const Dims& dims = e.module.shape(e.module.operand(id, 0)).dims;
  if (!index.has_parts() || index.dims().size() != slice.size())
    if (const int64_t first = contiguous_slice_start(e.module, id); first >= 0)
      return e.operand(
          id, 0, Index::linear(e.b, dims, add_index(e.b, index.position(e.b), int64(e.b, first))));
  std::vector<llvm::Value*> at;
  for (size_t d = 0; d < slice.size(); ++d)
    at.push_back(add_index(e.b, multiply_index(e.b, index.at(e.b, d), slice[d].stride),
                           int64(e.b, slice[d].start)));
  return e.operand(id, 0, Index(e.b, dims, std::move(at)));
}

}  // namespace hilo

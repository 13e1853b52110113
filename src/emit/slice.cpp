#include "emit/op_functions.h"

namespace hilo {

std::optional<int64_t> first_of_piece(const Module& module, InstructionId slice) {
  const std::vector<SliceDim>& taken = module.attributes<SliceAttributes>(slice).slice.dims;
  const Dims& dims = module.shape(module.operand(slice, 0)).dims;
  int64_t first = 0;
  bool is_one_place = true;  // of the dimensions before
  for (size_t d = 0; d < dims.size(); ++d) {
    const bool is_whole = taken[d] == SliceDim{0, dims[d], 1};
    if (!is_whole && (!is_one_place || taken[d].stride != 1)) return std::nullopt;
    is_one_place &= taken[d].limit - taken[d].start == 1;
    first = first * dims[d] + taken[d].start;
  }
  return first;
}

llvm::Value* element_Slice(Elements& e, InstructionId id, const Index& index, size_t) {
  const std::vector<SliceDim>& slice = e.module.attributes<SliceAttributes>(id).slice.dims;
  const Dims& dims = e.module.shape(e.module.operand(id, 0)).dims;
  if (!index.has_parts() || index.dims().size() != slice.size())
    if (const auto first = first_of_piece(e.module, id))
      return e.operand(
          id, 0, Index::linear(e.b, dims, add_index(e.b, index.position(e.b), int64(e.b, *first))));
  std::vector<llvm::Value*> at;
  for (size_t d = 0; d < slice.size(); ++d)
    at.push_back(add_index(e.b, multiply_index(e.b, index.at(e.b, d), slice[d].stride),
                           int64(e.b, slice[d].start)));
  return e.operand(id, 0, Index(e.b, dims, std::move(at)));
}

}  // namespace hilo

#include "emit/index_vectors.h"

#include <algorithm>

namespace hilo {

bool contains(const Dims& dims, size_t dim) {
  return std::ranges::count(dims, static_cast<int64_t>(dim)) > 0;
}

llvm::Value* index_component(ElementEmitter& elements, InstructionId id, int64_t index_vector_dim,
                             const std::vector<llvm::Value*>& batch, int64_t component) {
  const Shape& indices = elements.module.shape(elements.module.operand(id, 1));
  std::vector<llvm::Value*> at;
  size_t next = 0;
  for (size_t d = 0; d < indices.dims.size(); ++d)
    at.push_back(static_cast<int64_t>(d) == index_vector_dim ? int64(elements.b, component)
                                                             : batch[next++]);
  llvm::Value* held = elements.operand(id, 1, Index(elements.b, indices.dims, std::move(at)));
  return as_index(elements.b, indices.type, held);
}

llvm::Value* batch_index_of(const std::vector<llvm::Value*>& batch, int64_t index_vector_dim,
                            int64_t dim) {
  return batch[static_cast<size_t>(dim > index_vector_dim ? dim - 1 : dim)];
}

}  // namespace hilo

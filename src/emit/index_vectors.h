// The index vectors of gather and scatter: operand 1 holds one along a dimension of its own for
// each place of its other dimensions, the batch. Private to `emit`.
#pragma once

#include "emit/element_emitter.h"

namespace hilo {

bool contains(const Dims& dims, size_t dim);
// Component number `component` of the vector at `batch`, as it stands: neither moved nor checked.
llvm::Value* index_component(ElementEmitter& elements, InstructionId id, int64_t index_vector_dim,
                             const std::vector<llvm::Value*>& batch, int64_t component);
// The place in the batch along dimension `dim` of operand 1.
llvm::Value* batch_index_of(const std::vector<llvm::Value*>& batch, int64_t index_vector_dim,
                            int64_t dim);

}  // namespace hilo

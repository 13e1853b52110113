#include <algorithm>

#include "analysis/analysis.h"
#include "emit/index_vectors.h"
#include "emit/op_functions.h"
#include "emit/table_reads.h"

namespace hilo {
namespace {

// The load behind the conversion from how a type is stored.
llvm::LoadInst* load_behind(llvm::Value* value) {
  while (auto* step = llvm::dyn_cast<llvm::Instruction>(value)) {
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(step)) return load;
    if (!step->isCast() && !step->isShift()) break;
    value = step->getOperand(0);
  }
  return nullptr;
}

}  // namespace

// XLA's operation semantics, "Gather": the result's dimensions outside offset_dims say which slice,
// the others where in it. Starts are moved so that the slice lies inside. Of an array without
// elements the result is zero, as in the evaluator.
llvm::Value* element_Gather(ElementEmitter& e, InstructionId id, const Index& index, size_t) {
  Builder& b = e.b;
  const auto& g = e.module.attributes<GatherAttributes>(id);
  const Shape& array = e.module.shape(e.module.operand(id, 0));
  if (element_count(array) == 0)
    return constant_element(b, Literal::zeros(Shape::scalar(array.type)), 0);
  const Dims& dims = array.dims;
  std::vector<llvm::Value*> batch, offset;
  for (size_t d = 0; d < index.dims().size(); ++d)
    (contains(g.offset_dims, d) ? offset : batch).push_back(index.at(b, d));
  std::vector<llvm::Value*> at;
  size_t next_offset = 0;
  for (size_t d = 0; d < dims.size(); ++d) {
    const bool batching = contains(g.operand_batching_dims, d);
    llvm::Value* place =
        batching || contains(g.collapsed_slice_dims, d) ? int64(b, 0) : offset[next_offset++];
    const auto mapped = std::ranges::find(g.start_index_map, static_cast<int64_t>(d));
    if (mapped != g.start_index_map.end()) {
      llvm::Value* start = clamp_index(
          b, index_component(e, id, g.index_vector_dim, batch, mapped - g.start_index_map.begin()),
          0, dims[d] - g.slice_sizes[d]);
      place = add_index(b, place, start);
    } else if (batching) {
      const auto which = std::ranges::find(g.operand_batching_dims, static_cast<int64_t>(d)) -
                         g.operand_batching_dims.begin();
      place = batch_index_of(batch, g.index_vector_dim,
                             g.start_indices_batching_dims[static_cast<size_t>(which)]);
    }
    at.push_back(place);
  }
  llvm::Value* out = e.operand(id, 0, Index(b, dims, std::move(at)));
  if (is_lookup(e.module, id) && storage_bytes(array.type) == 2 &&
      e.module.shape(e.module.operand(id, 1)).type == ElementType::U16)
    if (llvm::LoadInst* load = load_behind(out)) mark_lookup(*load, dims[0] % 2 == 0);
  return out;
}

}  // namespace hilo

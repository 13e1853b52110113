#include "emit/dot_side.h"

#include <algorithm>

#include "analysis/analysis.h"
#include "emit/dot_element.h"
#include "emit/lanes.h"

namespace hilo {
namespace {

std::optional<Walk> walk_of(const Dims& dims, std::span<const int64_t> walked) {
  Walk out;
  for (size_t i = walked.size(); i-- > 0;) {
    const auto dim = static_cast<size_t>(walked[i]);
    if (dims[dim] == 1) continue;
    int64_t stride = 1;
    for (size_t d = dim + 1; d < dims.size(); ++d) stride *= dims[d];
    if (out.count == 1) out.stride = stride;
    else if (stride != out.stride * out.count) return std::nullopt;
    out.count *= dims[dim];
  }
  return out;
}

// Where the elements of a value stand one after the other: in an array, or in a piece of one that a
// slice names. Null: nowhere.
llvm::Value* elements_of(ElementEmitter& e, Builder& b, InstructionId id) {
  llvm::Value* position = int64(b, 0);
  while (!e.array(id)) {
    const Op op = e.module[id].op;
    if (is_contiguous_dynamic_slice(e.module, id)) {
      const Dims &sizes = e.module.shape(id).dims,
                 &dims = e.module.shape(e.module.operand(id, 0)).dims;
      std::vector<llvm::Value*> starts;
      for (size_t d = 0; d < dims.size(); ++d)
        starts.push_back(clamp_index(b, e.index_operand(id, d + 1), 0, dims[d] - sizes[d]));
      position = add_index(b, position, Index(b, dims, std::move(starts)).position(b));
    } else if (op == Op::Slice) {
      const int64_t at = contiguous_slice_start(e.module, id);
      if (at < 0) return nullptr;
      position = add_index(b, position, int64(b, at));
    } else if (op != Op::Reshape && op != Op::Bitcast) {
      return nullptr;
    }
    id = e.module.operand(id, 0);
  }
  return b.CreateGEP(stored_type(b, e.module.shape(id).type), e.array(id), position);
}

}  // namespace

std::optional<Side> side_of(KernelBuilder& w, InstructionId id, const Dims& batch,
                            const Dims& contracting) {
  const Shape& shape = w.elements.module.shape(id);
  const auto batches = walk_of(shape.dims, batch), depth = walk_of(shape.dims, contracting),
             own = walk_of(shape.dims, free_dims(shape.dims, batch, contracting));
  llvm::Value* array = elements_of(w.elements, w.b, id);
  if (!batches || !depth || !own) return std::nullopt;
  return Side{shape.type, array, *batches, *own, *depth};
}

bool is_in_rows(const Shape& shape, const Side& side) {
  return shape.dims.back() == side.depth.count && side.depth.stride == 1 &&
         (side.batch.count == 1 || side.batch.stride == side.own.count * side.depth.count) &&
         (side.own.count == 1 || side.own.stride == side.depth.count);
}

bool are_summed_in_lanes(ElementType operand, ElementType result) {
  if (is_integral(result))
    return stores_lanes(result) && is_integral(operand) && bits_of(operand) >= 8;
  return has_lanes(operand) && has_lanes(result) &&
         (operand != ElementType::F64 || result == ElementType::F64);
}

}  // namespace hilo

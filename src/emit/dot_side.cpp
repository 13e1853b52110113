#include "emit/dot_side.h"

#include "analysis/analysis.h"

namespace hilo {
namespace {

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

Side side_of(KernelBuilder& w, InstructionId operand, const DotSide& walks) {
  return {walks.type, elements_of(w.elements, w.b, operand), walks.batch, walks.own, walks.depth};
}

}  // namespace hilo

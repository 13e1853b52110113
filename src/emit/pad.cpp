#include <optional>

#include "emit/op_functions.h"

namespace hilo {
namespace {

int64_t floor_quotient(int64_t a, int64_t c) { return a / c - (a % c < 0 ? 1 : 0); }

// Where a place of a padded dimension lies in the operand: the nearest place that it has, and
// whether it is that place, null where it is always.
struct Source {
  llvm::Value *at, *inside;
};

// Nothing where the place is padding alone.
std::optional<Source> source_of(Elements& e, llvm::Value* place, int64_t padded, int64_t size,
                                const PaddingDim& padding) {
  Builder& b = e.b;
  if (size == 0) return std::nullopt;
  const int64_t step = size > 1 ? padding.interior + 1 : 1;
  const Bounds from = e.bounds(place, padded);
  const Bounds bounds = {-floor_quotient(padding.low - from.first, step),
                         floor_quotient(from.last - padding.low, step)};
  if (!bounds.meet(0, size)) return std::nullopt;
  Affine parts = affine(place);
  parts.offset -= padding.low;
  llvm::Value *at = nullptr, *inside = nullptr;
  if (parts.factor % step == 0) {
    if (parts.offset % step != 0) return std::nullopt;
    at = affine_index(b, {parts.base, parts.factor / step, parts.offset / step});
    if (!bounds.are_in(0, size)) inside = is_place(b, at, size);
  } else {
    llvm::Value* moved = affine_index(b, parts);
    at = b.CreateSDiv(moved, int64(b, step));
    inside = b.CreateAnd(b.CreateICmpEQ(b.CreateSRem(moved, int64(b, step)), int64(b, 0)),
                         b.CreateAnd(b.CreateICmpSGE(moved, int64(b, 0)), is_place(b, at, size)));
  }
  return Source{nearest_index(b, at, bounds, size), inside};
}

}  // namespace

// The operand is read at the nearest place that it has, and the value chosen afterwards.
llvm::Value* element_Pad(Elements& e, InstructionId id, const Index& index, size_t) {
  Builder& b = e.b;
  const Dims& dims = e.module.shape(e.module.operand(id, 0)).dims;
  const std::vector<PaddingDim>& padding = e.module.attributes<PadAttributes>(id).padding.dims;
  llvm::Value* inside = nullptr;
  std::vector<llvm::Value*> at;
  for (size_t d = 0; d < dims.size(); ++d) {
    const auto source = source_of(e, index.at(b, d), index.dims()[d], dims[d], padding[d]);
    if (!source) return e.operand(id, 1, Index::scalar(b));
    at.push_back(source->at);
    if (!source->inside) continue;
    inside = inside ? b.CreateAnd(inside, source->inside) : source->inside;
  }
  llvm::Value* value = e.operand(id, 0, Index(b, dims, std::move(at)));
  return inside ? b.CreateSelect(inside, value, e.operand(id, 1, Index::scalar(b))) : value;
}

}  // namespace hilo

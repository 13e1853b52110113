#include <optional>

#include "emit/complex.h"
#include "emit/op_functions.h"

namespace hilo {
namespace {

int64_t floor_quotient(int64_t a, int64_t c) { return a / c - (a % c < 0 ? 1 : 0); }

// Where a place of a padded dimension lies in the operand, the nearest place that it has, and
// whether it is that place, null where it is always.
struct Source {
  llvm::Value *at, *nearest, *inside;
};

// Nothing where the place is padding alone.
std::optional<Source> source_of(ElementEmitter& e, llvm::Value* place, int64_t padded, int64_t size,
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
    if (!bounds.are_in(0, size)) inside = is_in_bounds(b, at, size);
  } else {
    llvm::Value* moved = affine_index(b, parts);
    at = b.CreateSDiv(moved, int64(b, step));
    inside =
        b.CreateAnd(b.CreateICmpEQ(b.CreateSRem(moved, int64(b, step)), int64(b, 0)),
                    b.CreateAnd(b.CreateICmpSGE(moved, int64(b, 0)), is_in_bounds(b, at, size)));
  }
  return Source{at, nearest_index(b, at, bounds, size), inside};
}

}  // namespace

// The operand is read at the nearest place that it has, and the value chosen afterwards; or where
// there is an element, only.
llvm::Value* element_Pad(ElementEmitter& e, InstructionId id, const Index& index, size_t) {
  Builder& b = e.b;
  const Shape& shape = e.module.shape(e.module.operand(id, 0));
  const std::vector<PaddingDim>& padding = e.module.attributes<PadAttributes>(id).padding.dims;
  llvm::Value* inside = nullptr;
  std::vector<llvm::Value*> at, nearest;
  bool is_masked = false;
  for (size_t d = 0; d < shape.dims.size(); ++d) {
    llvm::Value* place = index.at(b, d);
    const auto source = source_of(e, place, index.dims()[d], shape.dims[d], padding[d]);
    if (!source) return e.operand(id, 1, Index::scalar(b));
    at.push_back(source->at);
    nearest.push_back(source->nearest);
    if (!source->inside) continue;
    inside = inside ? b.CreateAnd(inside, source->inside) : source->inside;
    is_masked |= shape.dims[d] > 1 && e.reads_masked(place, shape.type);
  }
  const auto value = [&](std::vector<llvm::Value*> place) {
    return e.operand(id, 0, Index(b, shape.dims, std::move(place)));
  };
  if (!inside) return value(std::move(at));
  llvm::Value* chosen = is_masked ? e.read_where(inside, [&] { return value(std::move(at)); })
                                  : value(std::move(nearest));
  return select_held(b, e.module.shape(id).type, inside, chosen,
                     e.operand(id, 1, Index::scalar(b)));
}

}  // namespace hilo

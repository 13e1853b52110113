// get-dimension-size and set-dimension-size: run-time sizes of bounded dimensions.
#include "ir/infer/infer.h"

namespace hilo {
namespace {

Result<size_t> dimension_of(const Given& given) {
  HILO_DO(need_array(given, 0));
  const Dims& dims = given.attributes<DimensionsAttributes>().dimensions;
  if (dims.size() != 1) return misfit("expected one dimension, found dimensions={}", braced(dims));
  HILO_DO(need_in_range("dimension", dims[0], 0, given.operand(0).rank()));
  return static_cast<size_t>(dims[0]);
}

}  // namespace

Result<Shape> infer_GetDimensionSize(const Given& given) {
  HILO_TRY(const size_t dim, dimension_of(given));
  if (given.operand(0).dims[dim] > INT32_MAX)
    return misfit("dimension {} of {} does not fit s32", dim, text(given.operand(0)));
  return Shape::scalar(ElementType::S32);
}

Result<Shape> infer_SetDimensionSize(const Given& given) {
  HILO_TRY(const size_t dim, dimension_of(given));
  const Shape& size = given.operand(1);
  if (!size.is_scalar() || size.type != ElementType::S32)
    return misfit("expected s32[] as operand 1, found {}", text(size));
  Shape out = given.operand(0);
  set_dynamic(out, dim, true);
  return out;
}

}  // namespace hilo

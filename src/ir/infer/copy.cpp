// Copies, also the asynchronous ones: a logical value in another layout or memory space.
#include "ir/infer/infer.h"

namespace hilo {

Result<Shape> infer_Copy(const Given& given) { return given.operand(0); }

// (destination, source, context)
Result<Shape> infer_CopyStart(const Given& given) {
  HILO_TRY(const Shape out, need_stated(given));
  if (!out.is_tuple() || out.elements.size() != 3)
    return misfit("expected a (destination, source, context) tuple, found {}", text(out));
  if (!out.elements[2].is_scalar() || out.elements[2].type != ElementType::U32)
    return misfit("expected a u32[] context, found {}", text(out.elements[2]));
  return Shape::tuple({given.operand(0), given.operand(0), out.elements[2]});
}

Result<Shape> infer_CopyDone(const Given& given) {
  const Shape& start = given.operand(0);
  if (start.is_tuple() && start.elements.size() == 3) return start.elements[0];
  return misfit("expected a (destination, source, context) tuple, found {}", text(start));
}

}  // namespace hilo

// Tuples, and ops that pass a value through.
#include "ir/infer/infer.h"

namespace hilo {

Result<Shape> infer_Tuple(const Given& given) {
  std::vector<Shape> elements;
  for (size_t i = 0; i < given.count(); ++i) elements.push_back(given.operand(i));
  return Shape::tuple(std::move(elements));
}

Result<Shape> infer_GetTupleElement(const Given& given) {
  const Shape& from = given.operand(0);
  if (!from.is_tuple()) return misfit("expected a tuple, found {}", text(from));
  const int64_t index = given.attributes<GetTupleElementAttributes>().index;
  HILO_DO(need_in_range("index", index, 0, static_cast<int64_t>(from.elements.size())));
  return from.elements[index];
}

Result<Shape> infer_OptimizationBarrier(const Given& given) { return given.operand(0); }
Result<Shape> infer_Domain(const Given& given) { return given.operand(0); }

Result<Shape> infer_AddDependency(const Given& given) {
  if (given.operand(1).is_token()) return given.operand(0);
  return misfit("expected a token as operand 1, found {}", text(given.operand(1)));
}

Result<Shape> infer_AfterAll(const Given& given) {
  for (size_t i = 0; i < given.count(); ++i)
    if (!given.operand(i).is_token())
      return misfit("expected a token as operand {}, found {}", i, text(given.operand(i)));
  return Shape::token();
}

}  // namespace hilo

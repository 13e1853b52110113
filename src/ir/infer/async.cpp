// Asynchronous calls: async-start gives ((operands), result, contexts...).
#include "ir/infer/infer.h"

namespace hilo {
namespace {

Result<void> need_started(const Shape& shape) {
  if (shape.is_tuple() && shape.elements.size() >= 2 && shape.elements[0].is_tuple()) return {};
  return misfit("expected ((operands), result, contexts...), found {}", text(shape));
}

}  // namespace

Result<Shape> infer_AsyncStart(const Given& given) {
  HILO_TRY(Shape out, need_stated(given));
  HILO_DO(need_started(out));
  HILO_TRY(out.elements[1], result_of(given, given.attributes<AsyncAttributes>().calls, "calls"));
  std::vector<Shape>& operands = out.elements[0].elements;
  operands.clear();
  for (size_t i = 0; i < given.count(); ++i) operands.push_back(given.operand(i));
  return out;
}

// Operands after the first are bound late: they join the operands of the start.
Result<Shape> infer_AsyncUpdate(const Given& given) {
  HILO_DO(need_count_at_least(given, 1));
  Shape out = given.operand(0);
  HILO_DO(need_started(out));
  for (size_t i = 1; i < given.count(); ++i) out.elements[0].elements.push_back(given.operand(i));
  return out;
}

Result<Shape> infer_AsyncDone(const Given& given) {
  HILO_DO(need_started(given.operand(0)));
  return given.operand(0).elements[1];
}

}  // namespace hilo

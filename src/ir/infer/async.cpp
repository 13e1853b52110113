// Asynchronous calls: async-start gives ((operands), result, contexts...).
#include "ir/infer/infer.h"

namespace hilo {
namespace {

Result<void> need_started(const Shape& shape) {
  if (shape.is_tuple() && shape.elements.size() >= 2 && shape.elements[0].is_tuple()) return {};
  return misfit("expected ((operands), result, contexts...), found {}", text(shape));
}

// What the computation gives; until its last operand is bound () may stand for it.
Result<Shape> result_so_far(const Given& given, size_t bound, const Shape& stated) {
  const ComputationId calls = given.attributes<AsyncAttributes>().calls;
  const bool waits = calls && bound < given.module[calls].parameters.size();
  if (waits && stated == Shape::tuple({})) return stated;
  return result_of(given, calls, "calls");
}

}  // namespace

Result<Shape> infer_AsyncStart(const Given& given) {
  HILO_TRY(Shape out, need_stated(given));
  HILO_DO(need_started(out));
  HILO_TRY(out.elements[1], result_so_far(given, given.count(), out.elements[1]));
  std::vector<Shape>& operands = out.elements[0].elements;
  operands.clear();
  for (size_t i = 0; i < given.count(); ++i) operands.push_back(given.operand(i));
  return out;
}

// Operands after the first are bound late: they join the operands of the start. Contexts are as
// stated: what a compiler keeps there may change.
Result<Shape> infer_AsyncUpdate(const Given& given) {
  HILO_DO(need_count_at_least(given, 1));
  const Shape& before = given.operand(0);
  HILO_DO(need_started(before));
  Shape out = given.stated() ? *given.stated() : before;
  HILO_DO(need_started(out));
  out.elements[0] = before.elements[0];
  std::vector<Shape>& operands = out.elements[0].elements;
  for (size_t i = 1; i < given.count(); ++i) operands.push_back(given.operand(i));
  if (before.elements[1] != Shape::tuple({})) {
    out.elements[1] = before.elements[1];
  } else {
    HILO_TRY(out.elements[1], result_so_far(given, operands.size(), out.elements[1]));
  }
  return out;
}

Result<Shape> infer_AsyncDone(const Given& given) {
  HILO_DO(need_started(given.operand(0)));
  return given.operand(0).elements[1];
}

}  // namespace hilo

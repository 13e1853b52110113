#include "ir/infer/infer.h"

namespace hilo {

// In place (with slice_sizes): input, output, offsets in each; the result is the output operand.
Result<Shape> infer_CollectivePermute(const Given& given) {
  HILO_DO(need_count_at_least(given, 1));
  if (!given.attributes<CollectivePermuteAttributes>().slice_sizes.lists.empty()) {
    if (given.count() != 4)
      return misfit("expected input, output and their offsets, found {} operand{}", given.count(),
                    given.count() == 1 ? "" : "s");
    if (given.operand(0).type != given.operand(1).type)
      return misfit("input and output have different element types: {} and {}",
                    text(given.operand(0)), text(given.operand(1)));
    return given.operand(1);
  }
  return given.count() == 1 ? given.operand(0) : infer_Tuple(given);
}

// (operand, result, contexts...)
Result<Shape> infer_CollectivePermuteStart(const Given& given) {
  HILO_TRY(Shape out, need_stated(given));
  if (!out.is_tuple() || out.elements.size() < 2)
    return misfit("expected (operand, result, contexts...), found {}", text(out));
  HILO_TRY(out.elements[1], infer_CollectivePermute(given));
  if (given.attributes<CollectivePermuteAttributes>().slice_sizes.lists.empty())
    out.elements[0] = out.elements[1];
  return out;
}

Result<Shape> infer_CollectivePermuteDone(const Given& given) {
  const Shape& start = given.operand(0);
  if (start.is_tuple() && start.elements.size() >= 2) return start.elements[1];
  return misfit("expected (operand, result, contexts...), found {}", text(start));
}

}  // namespace hilo

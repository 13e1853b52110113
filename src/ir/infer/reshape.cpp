#include "ir/infer/infer.h"

namespace hilo {
namespace {

Result<Shape> reshaped(const Given& given) {
  HILO_DO(need_array(given, 0));
  HILO_TRY(Shape out, need_stated(given));
  const Shape& from = given.operand(0);
  if (!out.is_array()) return misfit("{} gives an array", text_of(given.instruction.op));
  if (element_count(from) != element_count(out))
    return misfit("a reshape keeps the number of elements: {} has {}, {} has {}", text(from),
                  element_count(from), text(out), element_count(out));
  out.type = from.type;
  return out;
}

}  // namespace

Result<Shape> infer_Reshape(const Given& given) {
  HILO_TRY(const Shape out, reshaped(given));
  if (auto inferred = given.attributes<ReshapeAttributes>().inferred_dimension; inferred)
    HILO_DO(need_in_range("inferred_dimension", *inferred, -1, out.rank()));
  return out;
}

// Operand 0 and the run-time size of each result dimension.
Result<Shape> infer_DynamicReshape(const Given& given) {
  HILO_DO(need_count_at_least(given, 1));
  HILO_TRY(const Shape out, reshaped(given));
  if (given.count() - 1 != out.dims.size())
    return misfit("expected {} sizes for {}, found {}", out.dims.size(), text(out),
                  given.count() - 1);
  for (size_t i = 1; i < given.count(); ++i) HILO_DO(need_integral_scalar(given, i));
  return out;
}

}  // namespace hilo

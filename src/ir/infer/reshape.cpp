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

// Elements in the dimensions from each one on.
Dims extents(const Dims& dims) {
  Dims out = row_major_strides(dims);
  for (size_t d = 0; d < dims.size(); ++d) out[d] *= dims[d];
  return out;
}

// A dynamic dimension makes the outermost of those that it becomes dynamic: the last one from which
// on both arrays have as many elements, its own among them.
void pass_marks_on(const Shape& from, Shape& to) {
  const Dims had = extents(from.dims), has = extents(to.dims);
  for (size_t d = 0; d < had.size(); ++d)
    for (size_t t = has.size(); from.is_dynamic(d) && t-- > 0;)
      if (has[t] >= had[d] && contains(had, has[t])) {
        set_dynamic(to, t, true);
        break;
      }
}

}  // namespace

Result<Shape> infer_Reshape(const Given& given) {
  HILO_TRY(Shape out, reshaped(given));
  if (given.operand(0).has_dynamic_dims()) pass_marks_on(given.operand(0), out);
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

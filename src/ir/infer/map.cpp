#include "ir/infer/infer.h"

namespace hilo {

Result<Shape> infer_Map(const Given& given) {
  HILO_DO(need_count_at_least(given, 1));
  HILO_DO(need_arrays(given));
  const auto& a = given.attributes<MapAttributes>();
  Shape out = given.operand(0);
  for (size_t i = 1; i < given.count(); ++i)
    if (given.operand(i).dims != out.dims)
      return misfit("operands have different dimensions: {} and {}", text(out),
                    text(given.operand(i)));
  bool whole = a.dimensions.empty() || a.dimensions.size() == out.dims.size();
  for (size_t i = 0; whole && i < a.dimensions.size(); ++i)
    whole = a.dimensions[i] == static_cast<int64_t>(i);
  if (!whole)
    return misfit("map works on all dimensions in order, found dimensions={}",
                  braced(a.dimensions));
  HILO_TRY(const Shape result, result_of(given, a.to_apply, "to_apply"));
  if (!result.is_scalar()) return misfit("to_apply gives {}, expected a scalar", text(result));
  out.type = result.type;
  return out;
}

}  // namespace hilo

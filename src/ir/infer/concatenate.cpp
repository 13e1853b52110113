#include "ir/infer/infer.h"

namespace hilo {

Result<Shape> infer_Concatenate(const Given& given) {
  HILO_DO(need_count_at_least(given, 1));
  HILO_DO(need_arrays(given));
  const Dims& dims = given.attributes<DimensionsAttributes>().dimensions;
  Shape out = given.operand(0);
  if (dims.size() != 1) return misfit("expected one dimension, found dimensions={}", braced(dims));
  HILO_DO(need_in_range("dimension", dims[0], 0, out.rank()));
  for (size_t i = 1; i < given.count(); ++i) {
    const Shape& next = given.operand(i);
    bool fits = out.type == next.type && out.dims.size() == next.dims.size();
    for (int64_t d = 0; fits && d < out.rank(); ++d) {
      if (next.is_dynamic(d)) set_dynamic(out, d, true);
      fits = d == dims[0] || out.dims[d] == next.dims[d];
    }
    if (!fits)
      return misfit("operand {} is {}, which does not fit {} but for dimension {}", i, text(next),
                    text(given.operand(0)), dims[0]);
    if (__builtin_add_overflow(out.dims[dims[0]], next.dims[dims[0]], &out.dims[dims[0]]))
      return fail(ErrorKind::Limit, "the concatenated dimension is not below 2^63");
  }
  return make_array(out.type, out.dims, out.dynamic);
}

}  // namespace hilo

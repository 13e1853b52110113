#include "ir/infer/infer.h"

namespace hilo {

// dimensions[i] is the result's dimension that operand dimension i becomes.
Result<Shape> infer_Broadcast(const Given& given) {
  HILO_DO(need_arrays(given));
  HILO_TRY(Shape out, need_stated(given));
  const Shape& from = given.operand(0);
  const Dims& dims = given.attributes<DimensionsAttributes>().dimensions;
  if (!out.is_array()) return misfit("broadcast gives an array, found {}", text(out));
  if (dims.size() != from.dims.size())
    return misfit("expected {} dimensions for {}, found {}", from.dims.size(), text(from),
                  braced(dims));
  HILO_DO(need_distinct("dimensions", dims, out.rank()));
  for (size_t i = 0; i < dims.size(); ++i)
    if (from.dims[i] != out.dims[dims[i]])
      return misfit("dimension {} of {} is not as large as dimension {} of the result {}", i,
                    text(from), dims[i], text(out));
  out.type = from.type;
  for (size_t i = 0; i < dims.size(); ++i)
    if (from.is_dynamic(i)) set_dynamic(out, static_cast<size_t>(dims[i]), true);
  return out;
}

}  // namespace hilo

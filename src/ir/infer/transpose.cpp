#include "ir/infer/infer.h"

namespace hilo {

// Result dimension i is operand dimension dimensions[i]; an inferred layout keeps the bytes in
// place.
Result<Shape> infer_Transpose(const Given& given) {
  HILO_DO(need_arrays(given));
  const Dims& order = given.attributes<DimensionsAttributes>().dimensions;
  const Shape& from = given.operand(0);
  if (order.size() != from.dims.size())
    return misfit("expected a permutation of {} dimensions for {}, found {}", from.dims.size(),
                  text(from), braced(order));
  HILO_DO(need_distinct("dimensions", order, from.rank()));
  Shape out = from;
  Dims position(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    position[order[i]] = static_cast<int64_t>(i);
    out.dims[i] = from.dims[order[i]];
    set_dynamic(out, i, from.is_dynamic(order[i]));
  }
  if (out.layout.minor_to_major.size() == order.size())
    for (int64_t& dim : out.layout.minor_to_major)
      if (dim >= 0 && dim < from.rank()) dim = position[dim];
  return out;
}

}  // namespace hilo

#include "ir/infer/infer.h"

namespace hilo {

Result<Shape> infer_Slice(const Given& given) {
  HILO_DO(need_arrays(given));
  const Shape& from = given.operand(0);
  const auto& dims = given.attributes<SliceAttributes>().slice.dims;
  if (dims.size() != from.dims.size())
    return misfit("expected a slice of {} dimensions for {}, found {}", from.dims.size(),
                  text(from), dims.size());
  Shape out = make_array(from.type, from.dims);
  for (size_t i = 0; i < dims.size(); ++i) {
    const auto [start, limit, stride] = dims[i];
    if (start < 0 || start > limit || limit > from.dims[i])
      return misfit("[{}:{}] is not in dimension {} of {}", start, limit, i, text(from));
    if (stride <= 0) return misfit("expected a positive stride, found {}", stride);
    out.dims[i] = (limit - start) / stride + ((limit - start) % stride != 0);
    set_dynamic(out, i, from.is_dynamic(i));
  }
  return out;
}

}  // namespace hilo

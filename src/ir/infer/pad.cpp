#include "ir/infer/infer.h"

namespace hilo {
namespace {

Result<int64_t> padded_dim(const PaddingDim& padding, int64_t size) {
  if (padding.interior < 0)
    return misfit("expected non-negative interior padding, found {}", padding.interior);
  int64_t out = 0;
  if (__builtin_mul_overflow(size > 0 ? size - 1 : 0, padding.interior, &out) ||
      __builtin_add_overflow(out, size, &out) || __builtin_add_overflow(out, padding.low, &out) ||
      __builtin_add_overflow(out, padding.high, &out))
    return fail(ErrorKind::Limit, "the padded dimension is not below 2^63");
  if (out < 0) return misfit("padding leaves a dimension of {} elements", out);
  return out;
}

}  // namespace

Result<Shape> infer_Pad(const Given& given) {
  HILO_DO(need_arrays(given));
  const auto& dims = given.attributes<PadAttributes>().padding.dims;
  const Shape& from = given.operand(0);
  const Shape& value = given.operand(1);
  if (!value.is_scalar()) return misfit("expected a scalar padding value, found {}", text(value));
  if (from.type != value.type)
    return misfit("operand and padding value have different element types: {} and {}", text(from),
                  text(value));
  if (dims.size() != from.dims.size())
    return misfit("expected padding of {} dimensions for {}, found {}", from.dims.size(),
                  text(from), dims.size());
  Shape out = make_array(from.type, from.dims);
  for (size_t i = 0; i < dims.size(); ++i) {
    HILO_TRY(out.dims[i], padded_dim(dims[i], from.dims[i]));
    set_dynamic(out, i, from.is_dynamic(i));
  }
  return out;
}

}  // namespace hilo

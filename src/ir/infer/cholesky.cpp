#include "ir/infer/infer.h"

namespace hilo {

Result<Shape> infer_Cholesky(const Given& given) {
  HILO_DO(need_arrays(given));
  const Shape& a = given.operand(0);
  if (!is_floating(a.type) && !is_complex(a.type))
    return misfit("cholesky takes floating or complex elements, found {}", text(a));
  const size_t n = a.dims.size();
  if (n < 2 || a.dims[n - 1] != a.dims[n - 2])
    return misfit("expected square matrices in the last two dimensions, found {}", text(a));
  return a;
}

}  // namespace hilo

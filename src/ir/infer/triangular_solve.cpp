#include "ir/infer/infer.h"

namespace hilo {

Result<Shape> infer_TriangularSolve(const Given& given) {
  HILO_DO(need_arrays(given));
  const Shape& a = given.operand(0);
  const Shape& b = given.operand(1);
  const auto& attributes = given.attributes<TriangularSolveAttributes>();
  if ((!is_floating(a.type) && !is_complex(a.type)) || a.type != b.type)
    return misfit("expected floating or complex operands of one type, found {} and {}", text(a),
                  text(b));
  const size_t n = a.dims.size();
  if (n < 2 || a.dims[n - 1] != a.dims[n - 2])
    return misfit("expected square matrices in the last two dimensions, found {}", text(a));
  if (b.dims.size() != n) return misfit("operands differ in rank: {} and {}", text(a), text(b));
  for (size_t i = 0; i + 2 < n; ++i)
    if (a.dims[i] != b.dims[i])
      return misfit("operands differ in batch dimension {}: {} and {}", i, text(a), text(b));
  const size_t shared = attributes.left_side ? n - 2 : n - 1;
  if (b.dims[shared] != a.dims[n - 1])
    return misfit("expected {} in dimension {} of {}", a.dims[n - 1], shared, text(b));
  if (attributes.transpose_a == TransposeKind::Invalid)
    return misfit("expected transpose_a of NO_TRANSPOSE, TRANSPOSE or ADJOINT");
  return b;
}

}  // namespace hilo

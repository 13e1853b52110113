#include "ir/infer/infer.h"

namespace hilo {

// (values, s32 indices) of the k first along the last dimension.
Result<Shape> infer_TopK(const Given& given) {
  HILO_DO(need_arrays(given));
  Shape values = given.operand(0);
  const int64_t k = given.attributes<TopKAttributes>().k;
  if (values.rank() == 0) return misfit("expected at least one dimension in {}", text(values));
  HILO_DO(need_in_range("k", k, 0, values.dims.back() + 1));
  values = make_array(values.type, values.dims, values.dynamic);
  values.dims.back() = k;
  set_dynamic(values, values.dims.size() - 1, false);
  Shape indices = values;
  indices.type = ElementType::S32;
  return Shape::tuple({std::move(values), std::move(indices)});
}

}  // namespace hilo

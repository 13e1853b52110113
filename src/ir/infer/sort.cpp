#include "ir/infer/infer.h"

namespace hilo {

Result<Shape> infer_Sort(const Given& given) {
  HILO_DO(need_count_at_least(given, 1));
  HILO_DO(need_arrays(given));
  const Dims& dims = given.attributes<SortAttributes>().dimensions;
  if (dims.size() != 1) return misfit("expected one dimension, found dimensions={}", braced(dims));
  HILO_DO(need_in_range("dimension", dims[0], 0, given.operand(0).rank()));
  std::vector<Shape> out;
  for (size_t i = 0; i < given.count(); ++i) {
    if (given.operand(i).dims != given.operand(0).dims)
      return misfit("operands have different dimensions: {} and {}", text(given.operand(0)),
                    text(given.operand(i)));
    out.push_back(given.operand(i));
  }
  return out.size() == 1 ? out[0] : Shape::tuple(std::move(out));
}

}  // namespace hilo

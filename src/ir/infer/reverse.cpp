#include "ir/infer/infer.h"

namespace hilo {

Result<Shape> infer_Reverse(const Given& given) {
  HILO_DO(need_arrays(given));
  HILO_DO(need_distinct("dimensions", given.attributes<DimensionsAttributes>().dimensions,
                        given.operand(0).rank()));
  return given.operand(0);
}

}  // namespace hilo

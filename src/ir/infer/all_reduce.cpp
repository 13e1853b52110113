#include "ir/infer/infer.h"

namespace hilo {

Result<Shape> infer_AllReduce(const Given& given) {
  HILO_DO(need_count_at_least(given, 1));
  HILO_DO(need_arrays(given));
  if (given.count() == 1 && !(given.stated() && given.stated()->is_tuple()))
    return given.operand(0);
  return infer_Tuple(given);
}

Result<Shape> infer_AllReduceStart(const Given& given) { return infer_AllReduce(given); }
Result<Shape> infer_AllReduceDone(const Given& given) { return given.operand(0); }

}  // namespace hilo

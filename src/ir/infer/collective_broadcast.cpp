#include "ir/infer/infer.h"

namespace hilo {

// With has_dynamic_root the last operand says who sends.
Result<Shape> infer_CollectiveBroadcast(const Given& given) {
  const bool dynamic = given.attributes<CollectiveBroadcastAttributes>().has_dynamic_root;
  HILO_DO(need_count_at_least(given, dynamic ? 2 : 1));
  HILO_DO(need_arrays(given));
  const size_t sent = given.count() - (dynamic ? 1 : 0);
  if (sent == 1) return given.operand(0);
  HILO_TRY(Shape out, infer_Tuple(given));
  out.elements.resize(sent);
  return out;
}

}  // namespace hilo

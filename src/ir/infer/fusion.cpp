#include "ir/infer/infer.h"

namespace hilo {

Result<Shape> infer_Fusion(const Given& given) {
  return result_of(given, given.attributes<FusionAttributes>().calls, "calls");
}

}  // namespace hilo

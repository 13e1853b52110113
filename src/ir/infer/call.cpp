#include "ir/infer/infer.h"

namespace hilo {

Result<Shape> infer_Call(const Given& given) {
  return result_of(given, given.attributes<CallAttributes>().to_apply, "to_apply");
}

}  // namespace hilo

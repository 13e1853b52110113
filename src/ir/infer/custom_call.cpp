#include "ir/infer/infer.h"

namespace hilo {

Result<Shape> infer_CustomCall(const Given& given) { return need_stated(given); }

}  // namespace hilo

#include "base/base.h"
#include "plan/kernel_forms.h"

namespace hilo {

VectorRegisters registers_of_host() {
#ifdef __aarch64__
  return registers_of_neon;
#else
  if (processor().has_avx512) return registers_of_avx512;
  return processor().has_avx2 ? registers_of_avx2 : VectorRegisters{};
#endif
}

}  // namespace hilo

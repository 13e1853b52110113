#include "pjrt/extensions.h"

#include "pjrt/ffi.h"

namespace hilo::pjrt {

PJRT_Extension_Base* extensions() {
  PJRT_Extension_Base* first = nullptr;
  for (PJRT_Extension_Base* one : {&ffi_extension.base}) {
    one->next = first;
    first = one;
  }
  return first;
}

}  // namespace hilo::pjrt

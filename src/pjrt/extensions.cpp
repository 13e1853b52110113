#include "pjrt/extensions.h"

#include <initializer_list>

#include "pjrt/extension_tables.h"

namespace hilo::pjrt {

PJRT_Extension_Base* extensions() {
  PJRT_Extension_Base* first = nullptr;
  for (PJRT_Extension_Base* one :
       {&custom_partitioner_extension.base, &layouts_extension.base, &ffi_extension.base,
        &memory_descriptions_extension.base, &profiler_extension.base, &shardings_extension.base,
        &transform_extension.base}) {
    one->next = first;
    first = one;
  }
  return first;
}

}  // namespace hilo::pjrt

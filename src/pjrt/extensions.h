// What the table has beside its functions. Private to `pjrt`.
#pragma once

#include "pjrt/pjrt_abi.h"

namespace hilo::pjrt {

// The first of a list.
PJRT_Extension_Base* extensions();

}  // namespace hilo::pjrt

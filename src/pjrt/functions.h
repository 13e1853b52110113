// The functions behind the table. Private to `pjrt`.
#pragma once

#include "pjrt/pjrt_abi.h"

namespace hilo::pjrt {

#define FUNCTION(function, fields) PJRT_Error* function(PJRT_##function##_Args* args);
#define VOID_FUNCTION(function, fields) void function(PJRT_##function##_Args* args);
#define ABSENT(function)
#include "pjrt/functions.def"
#undef FUNCTION
#undef VOID_FUNCTION
#undef ABSENT

}  // namespace hilo::pjrt

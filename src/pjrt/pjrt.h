// Front door of `pjrt`: the plugin that frameworks open (libhilo_pjrt.so), a thin table from the
// structs of the PJRT C API to `wire`, `compile` and `device`. It shows one function; what it
// answers is read by pjrt_abi.h or any header of the interface.
#pragma once

#include "pjrt/pjrt_abi.h"

extern "C" const PJRT_Api* GetPjrtApi();

// The extensions that there are. Private to `pjrt`.
#pragma once

#include "pjrt/extensions_abi.h"

namespace hilo::pjrt {

extern PJRT_Custom_Partitioner_Extension custom_partitioner_extension;
extern PJRT_FFI_Extension ffi_extension;
extern PJRT_Layouts_Extension layouts_extension;
extern PJRT_Profiler_Extension profiler_extension;
extern PJRT_Shardings_Extension shardings_extension;
extern PJRT_MemoryDescriptions_Extension memory_descriptions_extension;
extern PJRT_Xla_Transform_Extension transform_extension;

}  // namespace hilo::pjrt

// How much memory the machine can still give.
#pragma once

#include <cstdint>

namespace hilo::tools {

int64_t available_memory();  // bytes; INT64_MAX when it is not known

}  // namespace hilo::tools

// Whether the machine has the memory that a run needs.
#pragma once

#include "base/base.h"

namespace hilo::tools {

std::string size_text(int64_t bytes);    // "12 B", "1.50 GiB", "more than 1 EiB"
std::string needed_text(int64_t bytes);  // "up to 1.50 GiB", "more than 1 EiB"

// Memory when a run that needs so many bytes would take more than `limit`, or where that is 0 more
// than there is; that is looked up from 16 MiB on.
Result<void> check_memory(int64_t needed, int64_t limit);

}  // namespace hilo::tools

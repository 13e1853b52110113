// What this process may use of the machine. Shown through base.h.
#pragma once

#include <cstdint>

namespace hilo {

// Cores: affinity and cgroup quota; at least 1.
int usable_cores();

// Bytes that it may still take: available memory, and what its cgroups leave; INT64_MAX where that
// is not known.
int64_t available_memory();

}  // namespace hilo

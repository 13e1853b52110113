// The caches that decide what is worth storing between loops. Private to `pass`.
#pragma once

#include "pass/pass.h"

namespace hilo {

// Of the CPU that the module is for. Where no machine is named, or one that tells of no caches,
// those of a server with AVX-512.
inline const Cores& deciding_cores(const PassOptions& options) {
  const bool is_known = options.machine && options.machine->cores.caches[1].bytes > 0;
  return is_known ? options.machine->cores : find_cpu("x86-64-v4").cores;
}
inline int64_t second_cache_bytes(const PassOptions& options) {
  return deciding_cores(options).caches[1].bytes;
}

}  // namespace hilo

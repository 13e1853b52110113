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
// What a core has of the last cache, or twice the second one where that is more: larger arrays come
// from memory, or from a cache that is as far.
inline int64_t near_cache_bytes(const PassOptions& options) {
  const Cache &second = deciding_cores(options).caches[1],
              &last = deciding_cores(options).caches[2];
  return std::max(2 * second.bytes, last.bytes / std::max<int64_t>(1, last.cores));
}

}  // namespace hilo

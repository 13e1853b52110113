// The data caches of the chip that code is made for. Private to `emit`.
#pragma once

#include <llvm/IR/Module.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace hilo {

struct CacheSizes {               // bytes
  int64_t first = 0, second = 0;  // of a core
  int64_t near = 0;               // Cores::near_cache_bytes
};
// As a module says for which chip it is to the writers of its functions: as LLVM calls it, or
// "native".
void set_cpu(llvm::Module& ir, std::string_view cpu);
std::string_view cpu_of(const llvm::Module& ir);
CacheSizes cache_sizes(const llvm::Module& ir);
// Bytes of a part of a second cache, one of so many, that a function keeps in its frame: stacks
// have room for a few.
inline int64_t frame_bytes(int64_t second_cache, int64_t parts) {
  constexpr int64_t room = 1 << 20;
  return std::min(second_cache / parts, room);
}

}  // namespace hilo

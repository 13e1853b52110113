// Memory that each thread keeps for its next line or tile. Private to `kernels`.
#pragma once

#include <cstdint>
#include <vector>

namespace hilo {

// At least `count` elements with any values, the same memory for each type and use.
template <class T, class Use = T>
T* spare(int64_t count) {
  thread_local std::vector<T> memory;
  if (static_cast<int64_t>(memory.size()) < count) memory.resize(static_cast<size_t>(count));
  return memory.data();
}

}  // namespace hilo

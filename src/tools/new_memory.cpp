// Where memory runs out, an error says how many bytes were asked for: the standard library's
// exception does not know. The sanitizers have an operator of their own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#include <cstdlib>

#include "base/base.h"

void* operator new(size_t bytes) {
  if (void* out = std::malloc(bytes == 0 ? 1 : bytes)) return out;
  throw hilo::OutOfMemory(static_cast<int64_t>(bytes));
}

void operator delete(void* at) noexcept { std::free(at); }
void operator delete(void* at, size_t) noexcept { std::free(at); }

#endif

#include "kernels/packed_memory.h"

#include "kernels/kernels.h"

namespace hilo {

std::byte* thread_workspace(int64_t bytes) {
  thread_local PackedMemory memory;
  return memory.take(bytes);
}

}  // namespace hilo

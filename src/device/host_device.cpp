#include <sys/mman.h>

#include <bit>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>

#include "device/device.h"

namespace hilo {
namespace {

constexpr int64_t alignment = 64;
constexpr int64_t huge_page = int64_t{2} << 20;
constexpr int64_t smallest_block = 512;  // that is kept

// Sizes in steps of an eighth of a power of two, so that near sizes share blocks.
int64_t block_bytes(int64_t bytes) {
  const int64_t step = std::max<int64_t>(
      alignment, static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(bytes))) / 8);
  return (bytes + step - 1) / step * step;
}

void* new_block(int64_t bytes) {
  const auto align = static_cast<size_t>(bytes >= huge_page ? huge_page : alignment);
  const size_t size = (static_cast<size_t>(bytes) + align - 1) / align * align;
  void* out = std::aligned_alloc(align, size);
  if (!out) throw OutOfMemory(static_cast<int64_t>(size));
  if (bytes >= huge_page) madvise(out, size, MADV_HUGEPAGE);
  return out;
}

// A small block and its count in one piece of the heap, whose threads keep such pieces by
// themselves. Code may write whole vectors: there is room up to the next multiple of the alignment.
Bytes small_block(int64_t bytes) {
  const auto block = std::make_shared_for_overwrite<std::byte[]>(
      static_cast<size_t>((bytes + alignment - 1) / alignment * alignment + alignment - 1));
  const auto start = reinterpret_cast<uintptr_t>(block.get());
  const uintptr_t padding = (alignment - start % alignment) % alignment;
  return Bytes(block, block.get() + padding);
}

}  // namespace

struct HostDevice::Blocks {
  mutable std::mutex mutex;
  std::multimap<int64_t, void*> free;
  MemoryUse use;

  ~Blocks() {
    for (const auto& [bytes, block] : free) std::free(block);
  }
  void* take(int64_t bytes) {
    {
      const std::lock_guard lock(mutex);
      if (const auto found = free.find(bytes); found != free.end()) {
        void* out = found->second;
        free.erase(found);
        use.kept_bytes -= bytes;
        note_taken(bytes);
        return out;
      }
    }
    void* out = new_block(bytes);
    const std::lock_guard lock(mutex);
    note_taken(bytes);
    return out;
  }
  void note_taken(int64_t bytes) {
    use.bytes += bytes;
    use.peak_bytes = std::max(use.peak_bytes, use.bytes);
    use.largest_bytes = std::max(use.largest_bytes, bytes);
    ++use.allocations;
  }
  void give_back(int64_t bytes, void* block) {
    const std::lock_guard lock(mutex);
    free.emplace(bytes, block);
    use.kept_bytes += bytes;
    use.bytes -= bytes;
  }
};

HostDevice::HostDevice(int threads)
    : blocks_(std::make_shared<Blocks>()), pool_(threads > 0 ? threads : usable_cores()) {}

Bytes HostDevice::allocate(int64_t bytes) {
  if (bytes <= smallest_block) return small_block(bytes);
  const int64_t size = block_bytes(bytes);
  void* block = blocks_->take(size);
  return Bytes(static_cast<std::byte*>(block),
               [blocks = blocks_, size](std::byte* at) { blocks->give_back(size, at); });
}

MemoryUse HostDevice::memory_use() const {
  const std::lock_guard lock(blocks_->mutex);
  return blocks_->use;
}

void HostDevice::forget_peaks() {
  const std::lock_guard lock(blocks_->mutex);
  MemoryUse& use = blocks_->use;
  use.peak_bytes = use.bytes;
  use.allocations = use.largest_bytes = 0;
}

}  // namespace hilo

#include "eval/storage_pool.h"

#include <sys/mman.h>

#include <array>
#include <bit>
#include <limits>
#include <mutex>
#include <new>

namespace hilo {
namespace {

// Larger buffers are mapped in huge pages, and the machine is asked what memory it has for more.
constexpr int64_t mapped_from = int64_t{4} << 20;
constexpr std::align_val_t alignment{64};
constexpr int classes = 4 * 48;
// Such a value weighs less than what tells of it, so it is not counted; and it is made in one
// piece with its count of uses, for loops over numbers make them by the million.
constexpr int64_t small_bytes = 64;

// Four size classes for each power of two from 64 bytes on.
int class_of(int64_t bytes) {
  if (bytes <= 64) return 0;
  const uint64_t units = (static_cast<uint64_t>(bytes) + 15) / 16;
  const int power = 63 - std::countl_zero(units - 1);  // units - 1 in [2^power, 2^(power+1))
  const int quarter = static_cast<int>(((units - 1) >> (power - 2)) & 3);
  return (power - 2) * 4 + quarter + 1;
}

int64_t bytes_of_class(int index) {
  if (index == 0) return 64;
  const int power = (index - 1) / 4 + 2, quarter = (index - 1) % 4;
  return ((int64_t{4} + quarter + 1) << (power - 2)) * 16;
}

Bytes make_small() {
  using Room = std::array<std::byte, 2 * small_bytes - 16>;
  const auto room = std::make_shared_for_overwrite<Room>();
  void* start = room->data();
  size_t space = room->size();
  return Bytes(room, static_cast<std::byte*>(std::align(64, small_bytes, start, space)));
}

}  // namespace

struct StoragePool::State : std::enable_shared_from_this<State> {
  const int64_t given_limit;
  const Allocate allocate;
  std::atomic<int64_t> alive = 0;
  std::mutex mutex;
  std::array<std::vector<std::byte*>, classes> free;
  int64_t kept = 0;  // bytes in `free`
  std::once_flag is_asked;
  int64_t found_limit = 0;

  State(int64_t limit, Allocate from) : given_limit(limit), allocate(std::move(from)) {}

  ~State() {
    for (int i = 0; i < classes; ++i)
      for (std::byte* start : free[i]) release(start, bytes_of_class(i));
  }

  static std::byte* obtain(int64_t bytes) {
    if (bytes < mapped_from) {
      void* start = ::operator new(static_cast<size_t>(bytes), alignment, std::nothrow);
      if (!start) throw OutOfMemory(bytes);
      return static_cast<std::byte*>(start);
    }
    void* start = mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) throw OutOfMemory(bytes);
    madvise(start, static_cast<size_t>(bytes), MADV_HUGEPAGE);
    return static_cast<std::byte*>(start);
  }

  static void release(std::byte* start, int64_t bytes) {
    if (bytes < mapped_from) ::operator delete(start, alignment);
    else munmap(start, static_cast<size_t>(bytes));
  }

  int64_t limit() {
    if (given_limit > 0) return given_limit;
    std::call_once(is_asked, [&] {
      const int64_t left = available_memory(), most = std::numeric_limits<int64_t>::max();
      found_limit = left > most - alive ? most : left + alive;
    });
    return found_limit;
  }

  // Whether so many bytes may be in use.
  bool grants(int64_t bytes) {
    return (given_limit == 0 && bytes <= mapped_from) || bytes <= limit();
  }

  std::byte* take(int index) {
    alive += bytes_of_class(index);
    {
      std::lock_guard lock(mutex);
      if (!free[index].empty()) {
        std::byte* start = free[index].back();
        free[index].pop_back();
        kept -= bytes_of_class(index);
        return start;
      }
    }
    return obtain(bytes_of_class(index));
  }

  void give(std::byte* start, int index) {
    const int64_t bytes = bytes_of_class(index);
    alive -= bytes;
    {
      std::lock_guard lock(mutex);
      if (grants(alive + kept + bytes) && kept <= alive + (int64_t{1} << 30)) {
        free[index].push_back(start);
        kept += bytes;
        return;
      }
    }
    release(start, bytes);
  }
};

StoragePool::StoragePool(int64_t limit, Allocate allocate)
    : state_(std::make_shared<State>(limit, std::move(allocate))) {}

StoragePool::~StoragePool() = default;

Bytes StoragePool::make(int64_t bytes) {
  if (state_->allocate) {
    Bytes inner = state_->allocate(bytes);
    state_->alive += bytes;
    std::byte* start = inner.get();
    return Bytes(start, [state = state_, inner = std::move(inner), bytes](std::byte*) {
      state->alive -= bytes;
    });
  }
  if (bytes <= small_bytes) return make_small();
  const int index = class_of(bytes);
  check(index < classes, "StoragePool: a size beyond the address space");
  return Bytes(state_->take(index),
               [state = state_, index](std::byte* start) { state->give(start, index); });
}

int64_t StoragePool::alive() const { return state_->alive.load(std::memory_order_relaxed); }
int64_t StoragePool::limit() const { return state_->limit(); }
bool StoragePool::over_limit() const { return !state_->grants(alive()); }

bool StoragePool::fits(int64_t more) const {
  const int64_t now = alive();
  return more <= std::numeric_limits<int64_t>::max() - now && state_->grants(now + more);
}

}  // namespace hilo

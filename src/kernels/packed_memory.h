// Memory for packed operands of products, and how ranges are cut. Private to `kernels`.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "base/base.h"

namespace hilo {

inline int64_t part_count(int64_t count, int64_t most) {
  return std::max<int64_t>(1, (count + most - 1) / most);
}

// [0, count) in parts that are as equal as they can be.
struct Cut {
  int64_t count = 0, parts = 1;
  int64_t begin(int64_t part) const { return part * count / parts; }
  int64_t size(int64_t part) const { return begin(part + 1) - begin(part); }
  int64_t most() const { return (count + parts - 1) / parts; }
};

// Parts that threads share evenly, though some of them begin later or are slower than others.
inline int64_t shared_parts(int64_t threads) { return std::max<int64_t>(16, 3 * threads); }

// Memory that a thread keeps from one product to the next, aligned as a page. Large pieces are huge
// pages, since packing writes to many places in turn.
class PackedMemory {
 public:
  std::byte* take(int64_t count) {  // contents are lost; throws OutOfMemory
    if (count > count_) {
      const int64_t page = count < huge ? 4096 : huge;
      const auto bytes = static_cast<size_t>((count + page - 1) / page * page);
      data_.reset();
      count_ = 0;
      data_.reset(static_cast<std::byte*>(std::aligned_alloc(static_cast<size_t>(page), bytes)));
      if (!data_) throw OutOfMemory(static_cast<int64_t>(bytes));
      if (page == huge) madvise(data_.get(), bytes, MADV_HUGEPAGE);
      count_ = static_cast<int64_t>(bytes);
    }
    return data_.get();
  }

 private:
  static constexpr int64_t huge = 1 << 21;
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::byte[], Free> data_;
  int64_t count_ = 0;  // bytes
};

}  // namespace hilo

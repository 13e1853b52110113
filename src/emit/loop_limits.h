// What the loops of all kernels share: facts of every chip, and what is too short for a loop.
// Private to `emit`.
#pragma once

#include <climits>
#include <cstdint>

namespace hilo {

// LoopLimits of `pass`, whose front door no file beside LLVM's names can include, and more.
struct KernelLimits {
#define LIMIT(name, value) static constexpr int64_t name = value;
#include "pass/loop_limits.def"
#undef LIMIT
  // Lines that are chunks for the threads by themselves.
  static constexpr int64_t min_lines = 16;
  // Elements side by side that are made in one go, of any type in few enough bytes for the first
  // cache.
  static constexpr int64_t tile = 1024;
  // Elements of f32 in the narrowest vectors and in the widest ones.
  static constexpr int64_t narrow_lanes = 4;
  static constexpr int64_t widest_lanes = short_row;
};

// Bytes of a vector of the narrowest chips, of those with AVX2 alone, and of the widest.
inline constexpr int64_t narrow_vector = KernelLimits::narrow_lanes * sizeof(float);
inline constexpr int64_t middle_vector = KernelLimits::min_lanes * sizeof(float);
inline constexpr int64_t widest_vector = KernelLimits::widest_lanes * sizeof(float);
static_assert(KernelLimits::whole_lanes == widest_vector);
inline constexpr unsigned middle_vector_bits = CHAR_BIT * middle_vector;

// Bytes; every chip has lines and pages of these.
inline constexpr int64_t cache_line = 64, page = 4096, huge_page = 1 << 21;

}  // namespace hilo

// How far a search looks that asks one question of what a value is made of, or of who reads it.
// Private to `emit`.
#pragma once

#include <cstddef>

namespace hilo {

// A question is asked of each value of a kernel, so that without a bound kernels of thousands of
// steps would take quadratic time. Beyond it the answer is the one that is always right.
struct KernelSearchBudget {
  static constexpr size_t max_visited = 200;
  static constexpr int max_depth = 8;  // where steps are visited once for each way to them
};

}  // namespace hilo

// How far a search looks that asks one question of what a value is made of, or of who reads it.
// Shown through analysis.h.
#pragma once

#include <cstddef>

namespace hilo {

// Passes ask such a question of each instruction, and `emit` of each value of a kernel, so that
// without a bound they would take quadratic time. Beyond it the answer is the one that is always
// right.
struct SearchBudget {
  static constexpr size_t max_visited = 200;
  static constexpr size_t max_depth = 8;  // where steps are visited once for each way to them
};

}  // namespace hilo

// Sorts by comparators that are computations. Private to `eval`.
#pragma once

#include "eval/lanes.h"

namespace hilo {

struct Line {  // the elements sorted together stand `step` apart, from `base`
  int64_t base, step, count;
};

// order[i]: which element of the line stands at place i once they are sorted, stably. The program
// has two inputs for each operand, of the left and of the right element. A comparator that is no
// order gives some order.
Result<void> sort_by_merges(const LaneProgram& program, std::span<const Literal> operands,
                            const Line& line, int64_t* order);

}  // namespace hilo

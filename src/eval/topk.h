// The largest or smallest numbers of each line, as the op topk and custom calls of it. Private to
// `eval`.
#pragma once

#include "eval/routine.h"

namespace hilo {

// Of lines along the last dimension of the operand; empty for types and sizes that it has no code
// for.
Routine topk_routine(const Shape& operand, const TopKAttributes& a);

}  // namespace hilo

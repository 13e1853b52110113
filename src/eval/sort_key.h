// Recognises comparators that order by operands' own values, so that a sort needs no calls.
// Private to `eval`.
#pragma once

#include "eval/call.h"
#include "kernels/kernels.h"

namespace hilo {

struct SortKeys {
  std::vector<SortKey> keys;            // the first one first
  std::vector<InstructionId> computed;  // each of the left element's operands alone
};
// The keys that a comparator orders by; none for a comparator that is not recognised. One key:
// compare(f(p[2k]), f(p[2k+1])) with LT or GT, where f is nothing or replaces NaNs by a NaN
// constant and zeros by +0 (as JAX writes its sorts); or compare(g(left), g(right)) with the same
// elementwise instructions g over the operands of either side, a computed key. With less and equal
// such comparisons of the same key: or(less, and(equal, rest)) in any order, select(equal, rest,
// less); equal may be compare(less, less of the sides exchanged) with EQ.
SortKeys find_sort_keys(const Module& module, ComputationId comparator);

}  // namespace hilo

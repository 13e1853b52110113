// Recognises comparators that order by one operand's own value, so that a sort needs no calls.
// Private to `eval`.
#pragma once

#include "eval/call.h"

namespace hilo {

struct SortKey {
  int64_t operand;  // compare(p[2 * operand], p[2 * operand + 1])
  bool is_descending;
  bool is_total_order;     // floats by sign, then magnitude: -NaN < -inf ... -0 < +0 ... < NaN
  bool zeros_are_equal;    // -0 as +0
  bool nans_are_positive;  // every NaN as +NaN
};
// The key of a comparator compare(f(p[2k]), f(p[2k+1])), where f is nothing or replaces NaNs by a
// NaN constant and zeros by +0 (as JAX writes its sorts); none for any other.
std::optional<SortKey> find_sort_key(const Module& module, ComputationId comparator);

// Unsigned integers of the element's width in the order that the key asks for, ascending.
// `count` elements at `values`, `step` elements apart.
void make_sort_keys(const SortKey& key, ElementType type, const std::byte* values, int64_t step,
                    int64_t count, uint64_t* keys);

}  // namespace hilo

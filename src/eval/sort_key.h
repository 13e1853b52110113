// Recognises comparators that order by operands' own values, so that a sort needs no calls.
// Private to `eval`.
#pragma once

#include "eval/call.h"

namespace hilo {

struct SortKey {
  // compare(p[2 * operand], p[2 * operand + 1]); numbers beyond the operands': a computed key.
  int64_t operand;
  bool is_descending;
  bool is_total_order;     // floats by sign, then magnitude: -NaN < -inf ... -0 < +0 ... < NaN
  bool zeros_are_equal;    // -0 as +0
  bool nans_are_positive;  // every NaN as +NaN
  bool operator==(const SortKey&) const = default;
};
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

// Unsigned integers of the element's width in the order that the key asks for, ascending.
// `count` elements at `values`, `step` elements apart. Key: uint64_t, or an unsigned integer as
// wide as the element.
template <class Key>
void make_sort_keys(const SortKey& key, ElementType type, const std::byte* values, int64_t step,
                    int64_t count, Key* keys);

// Whether the keys of these elements tell them apart as far as their bits differ, so that
// elements_of_keys gives them back: there is no -0 nor NaN that the key takes for another.
bool keys_are_exact(const SortKey& key, ElementType type, const std::byte* values, int64_t step,
                    int64_t count);
// The inverse of make_sort_keys, Key as wide as the element.
template <class Key>
void elements_of_keys(const SortKey& key, ElementType type, const Key* keys, int64_t step,
                      int64_t count, std::byte* values);

}  // namespace hilo

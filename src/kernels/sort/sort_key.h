// Unsigned integers that are in the order that a key asks for. Private to `kernels`.
#pragma once

#include "kernels/kernels.h"

namespace hilo {

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

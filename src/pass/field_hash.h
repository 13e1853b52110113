// Hashes of what instructions are found alike by. Private to `pass`.
#pragma once

#include "ir/ir.h"

namespace hilo {

inline size_t mix(size_t seed, size_t value) {
  return (seed ^ value) * 0x9e3779b97f4a7c15ull + (seed >> 29);
}

// Of a field of an attribute struct; others than these tell nothing apart.
inline size_t hash_field(int64_t value) { return static_cast<size_t>(value); }
inline size_t hash_field(const Dims& dims) {
  size_t seed = dims.size();
  for (int64_t dim : dims) seed = mix(seed, static_cast<size_t>(dim));
  return seed;
}
inline size_t hash_field(const SliceDims& slice) {
  size_t seed = 0;
  for (const SliceDim& dim : slice.dims) seed = mix(mix(seed, dim.start), dim.limit);
  return seed;
}
template <class T>
size_t hash_field(const T&) {
  return 0;
}

}  // namespace hilo

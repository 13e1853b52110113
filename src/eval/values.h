// Elements of an array as numbers of one type, and back. Private to `eval`.
#pragma once

#include <complex>

#include "eval/call.h"

namespace hilo {

// All elements as T: of floats and complex numbers, which lose their imaginary part where T is
// real, or uint64_t, of integers modulo 2^64.
template <class T>
std::vector<T> values_of(const Literal& array);
// Each rounded once to the array's type; integers wrap.
template <class T>
void store_values(std::span<const T> values, Literal& array);

}  // namespace hilo

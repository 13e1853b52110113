// Private to `eval`.
#pragma once

#include <cmath>
#include <limits>

namespace hilo {

// A float, but the zero of its sign for one that is subnormal: functions of a library may keep such
// numbers in any mode of the processor.
template <class T>
T without_subnormal(T x) {
  return std::fabs(x) < std::numeric_limits<T>::min() ? std::copysign(T(0), x) : x;
}

}  // namespace hilo

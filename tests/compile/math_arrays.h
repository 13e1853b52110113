// Arrays that tests of functions are given, and what subnormal numbers in them count as.
#pragma once

#include <cmath>

#include "both.h"

namespace hilo::test {

inline Literal floats(size_t count, const std::function<float(size_t)>& value) {
  Literal out =
      Literal::uninitialized(Shape::array(ElementType::F32, {static_cast<int64_t>(count)}));
  for (size_t i = 0; i < count; ++i) out.mutable_data<float>()[i] = value(i);
  return out;
}

// Subnormal f32 are zero, as arguments and as results.
inline double flushed(double x) { return std::fabs(x) < 0x1p-126 ? std::copysign(0.0, x) : x; }

}  // namespace hilo::test

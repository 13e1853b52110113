// Which element types hold all values of which.
#pragma once

#include "shape/shape.h"

namespace hilo {

// Significant bits and bits of the exponent of a floating type; zeros for another.
struct FloatRange {
  int digits = 0, exponent_bits = 0;
};
FloatRange float_range(ElementType type);

// Whether every value of `from` is one of `to`.
bool is_contained(ElementType from, ElementType to);

}  // namespace hilo

// Changing element types. Private to `eval`.
#pragma once

#include "eval/call.h"

namespace hilo {

// n elements from one type to another, as HLO's convert does: floats to integers saturate, NaN
// becomes 0; integers wrap; narrower floats are rounded once, ties to even; to pred: not zero;
// complex to real drops the imaginary part. `in` and `out` do not overlap.
void convert_lanes(ElementType from, const void* in, ElementType to, void* out, int64_t n);

// The same array with elements of another type; itself when it has the type.
Literal converted(const Call& call, const Literal& literal, ElementType type);

}  // namespace hilo

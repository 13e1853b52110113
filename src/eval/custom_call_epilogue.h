// What libraries do to the result of a product before they give it. Private to `eval`.
#pragma once

#include "eval/custom_call.h"

namespace hilo {

StepValue times(Steps& steps, StepValue value, double factor);
StepValue multiply_by(Steps& steps, StepValue value, StepValue scalar);  // of one element
StepValue relu(Steps& steps, StepValue x);
StepValue gelu_tanh(Steps& steps,
                    const StepValue& x);  // x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
StepValue gelu_erf(Steps& steps, const StepValue& x);  // x/2 (1 + erf(x / sqrt(2)))
// To the shape, whose last dimensions are the value's or where the value has 1.
StepValue broadcast_right(Steps& steps, StepValue value, const Shape& shape);
// To a type of 8 bits, too large ones to the largest finite number.
StepValue saturate(Steps& steps, StepValue value, ElementType type);
double largest_magnitude(const StepValue& value);

}  // namespace hilo

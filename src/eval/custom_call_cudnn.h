// What cuDNN's convolutions share. Private to `eval`.
#pragma once

#include "eval/backend_config.h"
#include "eval/custom_call.h"

namespace hilo {

// The window and labels that a custom call states, checked against its shapes.
Result<ConvolutionAttributes> forward_attributes(const Call& call);
// A product of narrow floats is held in f32 until the end.
Shape compute_shape(const Shape& shape);
StepValue elu(Steps& steps, const StepValue& x);

}  // namespace hilo

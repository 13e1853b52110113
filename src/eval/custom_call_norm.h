// Normalisation of rows. Private to `eval`: cuDNN's and oneDNN's layer norms share it.
#pragma once

#include "eval/custom_call.h"

namespace hilo {

// Of x [n, m]: (x - mean) norm_factor, where norm_factor = 1 / sqrt(variance + epsilon).
struct NormalizedRows {
  StepValue value;              // [n, m]
  StepValue mean, norm_factor;  // [n]
};
NormalizedRows normalize_rows(Steps& steps, const StepValue& x, double epsilon);
StepValue row_means(Steps& steps, StepValue x);                         // [n] of [n, m]
StepValue column_sums(Steps& steps, StepValue x);                       // [m] of [n, m]
StepValue over_rows(Steps& steps, StepValue a, const Shape& shape);     // [n] to [n, m]
StepValue over_columns(Steps& steps, StepValue a, const Shape& shape);  // [m] to [n, m]

}  // namespace hilo

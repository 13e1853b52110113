// A product of contiguous slices of arrays in memory: a fusion whose root is a dot and whose
// operands are the fusion's own, or contiguous slices of these. A library is given the slices.
// Private to `emit`.
#pragma once

#include "ir/ir.h"

namespace hilo {

// What a dynamic slice adds to the number of a slice's first element: a scalar operand of the
// fusion, taken into [0, most], times `stride`.
struct DynamicStart {
  size_t operand;
  int64_t most, stride;
};
struct OperandSlice {
  size_t operand;             // of the fusion
  int64_t first_element = 0;  // less what the starts add
  std::vector<DynamicStart> starts;
};
struct DotOfSlices {
  InstructionId product;
  std::vector<OperandSlice> operands;  // of the product
};

// Nothing where the step is another one.
std::optional<DotOfSlices> dot_of_slices(const Module& module, InstructionId step);

}  // namespace hilo

// A product of pieces of arrays that stand in memory: a fusion whose root is a dot and whose
// operands are the fusion's own, or pieces of these that slices name. A library is given the
// pieces. Private to `emit`.
#pragma once

#include "ir/ir.h"

namespace hilo {

// What a dynamic slice adds to the number of a piece's first element: a scalar operand of the
// fusion, taken into [0, most], times `stride`.
struct DynamicStart {
  size_t operand;
  int64_t most, stride;
};
struct OperandPiece {
  size_t operand;             // of the fusion
  int64_t first_element = 0;  // less what the starts add
  std::vector<DynamicStart> starts;
};
struct ProductOfPieces {
  InstructionId product;
  std::vector<OperandPiece> operands;  // of the product
};

// Nothing where the step is another one.
std::optional<ProductOfPieces> product_of_pieces(const Module& module, InstructionId step);

}  // namespace hilo

// A product of pieces of arrays that stand in memory: a fusion whose root is a dot and whose
// operands are the fusion's own, or parts of these that static slices name. A library is given the
// pieces. Private to `emit`.
#pragma once

#include "ir/ir.h"

namespace hilo {

struct OperandPiece {
  size_t operand;  // of the fusion
  int64_t first_element;
};
struct ProductOfPieces {
  InstructionId product;
  std::vector<OperandPiece> operands;  // of the product
};

// Nothing where the step is another one.
std::optional<ProductOfPieces> product_of_pieces(const Module& module, InstructionId step);

}  // namespace hilo

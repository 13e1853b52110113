#pragma once

#include "wire/stablehlo/mlir.h"

namespace hilo::mlir {

// An attribute that holds itself, or that nests deeper than those who walk it can follow; "" where
// there is none.
std::string nesting_fault(const Program& program);

}  // namespace hilo::mlir

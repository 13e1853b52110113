// From a program of MLIR to a Hilo module: StableHLO's ops become HLO's, functions and regions
// computations, dimensions that a file leaves open those of its arguments. Private to `wire`.
#pragma once

#include "text/text.h"
#include "wire/stablehlo/mlir.h"

namespace hilo::mlir {

// `argument_shapes`: of main's arguments, in order; dimensions that the file leaves open are taken
// from there. Errors name the op, and its line and column or byte. Of the options, warnings and the
// bytes of literals count: elided constants get made-up values.
Result<Module> to_module(const Program& program, std::span<const Shape> argument_shapes,
                         const ParseOptions& options = {});

}  // namespace hilo::mlir

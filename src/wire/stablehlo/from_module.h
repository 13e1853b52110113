// From a Hilo module to a program of MLIR: HLO's ops become StableHLO's, computations functions or
// regions, tuples several values. Private to `wire`.
#pragma once

#include "text/text.h"
#include "wire/stablehlo/mlir.h"
#include "wire/stablehlo/vhlo_versions.h"

namespace hilo::mlir {

// What StableHLO has no place for is dropped, once a kind with a warning: layouts inside of the
// program, schedules, control dependencies, configurations of ops that are no custom calls. Errors:
// Unsupported with the instruction's place where an op, a type or a field has no counterpart in
// StableHLO or came after `version`.
Result<Program> from_module(const Module& module, Release release, std::vector<Warning>* warnings);

// MLIR text in the generic form of ops, functions and the commonest ops in their own.
Result<std::string> write_text(const Program& program);
// A portable artifact: MLIR bytecode 6 of VHLO's ops as they were at `release`.
Result<std::string> write_bytecode(const Program& program, Release release);

}  // namespace hilo::mlir

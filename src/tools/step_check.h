// Machine code of single instructions against the evaluator. Private to `tools`.
#pragma once

#include "compile/compile.h"
#include "tools/compare.h"
#include "tools/diagnostics.h"

namespace hilo::tools {

struct StepCheck {
  CompileOptions compiling;
  EvalOptions eval;
  Tolerance tolerance;
};
struct StepDifference {
  std::string instruction, text;  // its name; as HLO prints it
  std::string difference;
};
// Evaluates the entry of a module for one device, and runs the machine code of each of its
// instructions alone, on the operands that the evaluator had: the first that gives other values.
// What has no machine code is passed over.
Result<std::optional<StepDifference>> first_differing_step(const Module& module,
                                                           std::vector<Literal> arguments,
                                                           const StepCheck& options);

// The first leaf that differs, and where; nothing where all agree.
std::optional<std::string> difference_of(const Literal& got, const Literal& want,
                                         const Shape& declared, const Tolerance& tolerance);

}  // namespace hilo::tools

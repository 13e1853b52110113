// Handlers that want arrays in other orders than row by row, as LAPACK's want matrices column by
// column: StableHLO's operand_layouts and result_layouts of a custom call. Private to `pjrt`.
#pragma once

#include <map>

#include "compile/compile.h"

namespace hilo::pjrt {

// Dimensions of each operand and result, the most minor first; empty: row by row.
struct CallLayouts {
  std::string target;
  std::vector<Dims> operands, results;
};
using LaidOutCalls = std::map<std::string, CallLayouts>;  // by the name that the call has then

// Passes put every array row by row, so that a call of one of `functions` with layouts becomes one
// of a function of its own, named by them: "f" is then "f({0,1})->({0,1},{0})".
LaidOutCalls name_laid_out_calls(Module& module,
                                 const std::map<std::string, CustomCallFunction>& functions);
// The function with its operands and results in these orders; the shapes stay the logical ones.
CustomCallFunction in_layouts(CustomCallFunction function, CallLayouts layouts);

}  // namespace hilo::pjrt

// Handlers that want arrays in other orders than row by row, as LAPACK's want matrices column by
// column: StableHLO's operand_layouts and result_layouts of a custom call. Private to `pjrt`.
#pragma once

#include "compile/compile.h"

namespace hilo::pjrt {

// Dimensions of each operand and result, the most minor first; empty: row by row.
struct CallLayouts {
  std::string target;
  std::vector<Dims> operands, results;

  bool are_plain() const;
};
CallLayouts layouts_of(const Module& module, InstructionId custom_call);
// "f({0,1})->({0,1},{0})"; the target alone where all is row by row.
std::string name_of(const CallLayouts& layouts);
// The function with its operands and results in these orders; the shapes stay the logical ones.
CustomCallFunction in_layouts(CustomCallFunction function, CallLayouts layouts);

}  // namespace hilo::pjrt

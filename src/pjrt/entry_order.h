// Layouts that a client wants of a program's parameters and results. Private to `pjrt`.
#pragma once

#include "pjrt/compile_options.h"
#include "rewrite/rewrite.h"

namespace hilo::pjrt {

// States in the header's entry_computation_layout how each parameter and result of one array lies:
// as the module says, else as the settings do, else row by row. What is left to the compiler (an
// array without a layout) lies so that nothing moves: a transposed value as the one before.
void settle_layouts(Module& module, const CompileSettings& settings);

// A pass over settled layouts: parameters and results that lie in another order than row by row
// become arrays of their dimensions in the order of memory, with transposes behind and before them.
//   f(x{0,1}[2,3]) => f(transpose(x[3,2], {1,0}))
// Then the header has the layouts of these arrays. An alias of two arrays whose dimensions differ
// then is a donation.
Result<bool> put_entry_in_memory_order(Module& module, const PassOptions& options);

}  // namespace hilo::pjrt

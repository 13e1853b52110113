// Ops whose result is their operand read through strides: broadcast, transpose, slice, reverse.
// Private to `eval`.
#pragma once

#include "eval/view.h"
#include "ir/ir.h"

namespace hilo {

bool is_fixed_array(const Shape& shape);  // its sizes do not depend on values
// The instruction is one, its operand a fixed array, and its attributes fit both.
bool is_view(const Module& module, const Instruction& instruction);
View view_of_operand(const Module& module, const Instruction& instruction);

}  // namespace hilo

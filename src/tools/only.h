// One instruction, fusion or computation of a module, alone.
#pragma once

#include "ir/ir.h"

namespace hilo::tools {

// The module with that computation as its entry, or with an entry made of the one instruction and a
// parameter for each of its operands. An error lists near names when there is none of that name.
Result<Module> isolate(const Module& module, std::string_view name);
// The second of these; the same value twice among the operands is one parameter.
Module isolate(const Module& module, InstructionId id);

}  // namespace hilo::tools

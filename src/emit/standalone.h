// A program that needs nothing of this process, for an object file. Private to `emit`.
#pragma once

#include "emit/steps.h"

namespace hilo {

// The module flag of a program for an object without a library to which a step could be left.
constexpr const char* stands_alone = "hilo.stands_alone";

// Adds the C function of EmitOptions::object_name to a program of one part whose `code.memory` and
// `code.results` are known, hides the rest, and stores the constants; sets code.workspace_bytes.
// Usage where the name is that of a function which the code calls.
Result<void> make_standalone(Program& program, const EmitOptions& options);

}  // namespace hilo

// Compiled or evaluated: what runs a module where --device is not given. Private to `tools`.
#pragma once

#include "tools/run_options.h"

namespace hilo::tools {

enum class RunDevice : uint8_t { Eval, Cpu };

// An option that is given and that the evaluator alone has, as it is written; empty: there is none.
std::string_view option_of_evaluator(const RunOptions& options);

// The device called `named`. Where it is empty: the compiler, or the evaluator if `only_eval`, an
// option that only that has, is given. Usage where the option does not fit the device named.
Result<RunDevice> choose_device(std::string_view named, std::string_view only_eval);

// Whether the device of choose_device() is here. An installation without the machine-code generator
// evaluates what did not name a device, with a warning; what named it fails when it is compiled.
bool is_here(RunDevice device, std::string_view named, Session& session);

}  // namespace hilo::tools

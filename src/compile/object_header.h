// The header that goes with an object file. Private to `compile`.
#pragma once

#include "ir/ir.h"

namespace hilo {

// Whether a function can have this name in C and in C++.
bool is_c_name(std::string_view name);

// What the function `name` takes, for C and C++: the arrays of the entry's parameters and results
// in order, their shapes and bytes, and the workspace; what must be linked besides.
std::string object_header(const Module& module, std::string_view name, int64_t workspace_bytes,
                          bool needs_run_time, std::string_view link_flags);
// What stands behind the object where it is linked: libraries, and where this machine has them.
std::string link_flags(bool needs_run_time);

}  // namespace hilo

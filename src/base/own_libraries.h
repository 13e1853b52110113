// Where the shared objects of Hilo lie. Shown through base.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hilo {

// Paths where a shared object of Hilo's may be, the best first: beside the program or shared object
// that this code was linked into, above it as in a build, and where an installation has it.
std::vector<std::string> library_paths(std::string_view file);

}  // namespace hilo

// The chip, and the shape of its torus, that a user names.
#pragma once

#include "analysis/analysis.h"

namespace hilo::tools {

// --target, as in v5e or v5e:4x2, and --topology, as in 4x2. Nothing where no target is named; an
// error of kind Usage for a name or a shape that is none. --topology counts before the shape in
// --target.
Result<std::optional<Machine>> find_target(std::string_view target, std::string_view topology);

// An error of kind Usage where the torus has another number of devices than the module is for. One
// device uses no links: its module may be for any chip of a slice.
Result<void> check_torus(const Machine& machine, const Module& module);

}  // namespace hilo::tools

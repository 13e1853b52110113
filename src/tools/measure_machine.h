// `hilo bench --machine`: what this machine's processor does, measured. Private to `tools`.
#pragma once

#include "tools/machine_record.h"

namespace hilo::tools {

// Runs some twenty short programs, compiled, for a few seconds in all. Sizes are those of the
// machine's row; rates and times are the best of several runs.
Result<MachineRecord> measure_machine();

}  // namespace hilo::tools

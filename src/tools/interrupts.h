// Ctrl-C and --timeout: what they set is asked by whatever runs long. Private to `tools`.
#pragma once

#include <atomic>

#include "base/base.h"

namespace hilo::tools {

// From now on the first SIGINT, and the end of `timeout` seconds where that is not 0, set the flag;
// a second SIGINT ends the process. Usage when the timeout is no number of seconds.
Result<const std::atomic<bool>*> listen_for_interrupts(double timeout);

// An error of work that was stopped says so when it was for --timeout.
Error name_timeout(Error error, double timeout);

}  // namespace hilo::tools

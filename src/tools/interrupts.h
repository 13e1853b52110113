// Ctrl-C and --timeout: what they set is asked by whatever runs long. Private to `tools`.
#pragma once

#include <atomic>

#include "tools/command.h"

namespace hilo::tools {

// From now on the first SIGINT, and the end of `timeout` seconds where that is not 0, set the flag.
// Work that does not end within a second after that has not asked: the process says what stopped it
// and ends with status 1. A second SIGINT ends it at once. Usage when the timeout is no number of
// seconds.
Result<const std::atomic<bool>*> listen_for_interrupts(double timeout, const Session& session);
// SIGTERM sets the flag, too: a launcher sends it to all when one process has died, and which one
// is still to be said.
void outlive_termination();
// The work is done, and what follows (saving, comparing) is not stopped but by the usual SIGINT.
void stop_listening();

// An error of work that was stopped says so when it was for --timeout. Stops listening.
Error name_timeout(Error error, double timeout);

}  // namespace hilo::tools

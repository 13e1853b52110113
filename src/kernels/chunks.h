// How work is cut for threads, by what handing it over to them takes: docs/cost.md. Part of the
// front door of `kernels`.
#pragma once

#include "machine/machine.h"

namespace hilo {

// Into how many chunks so many iterations are cut that take one thread so long: one where handing
// them to so many threads takes longer than it saves. Else the same number m for each thread, which
// makes m * thread_seconds + share / m least: to begin a chunk takes no longer than a hand-over,
// for its data are elsewhere, and who is done waits for the last chunk. One thread waits for none,
// but is asked between them whether to stop.
int64_t chunks_of(double serial_seconds, int64_t iterations, int64_t threads, const Cores& cores);

}  // namespace hilo

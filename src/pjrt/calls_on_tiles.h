// Custom calls that the client cuts over devices. Private to `pjrt`.
#pragma once

#include "pjrt/program.h"

namespace hilo::pjrt {

// Of a module of whole arrays that all say how they are cut: puts a manual region in the place of
// each call that a partitioner of the client's knows, and of Python callbacks that are to see what
// a device holds; tells who wants to know how an array is cut. Answers are kept in the source, and
// taken from there where it has them.
Result<void> put_calls_on_tiles(Module& module, ProgramSource& source);

}  // namespace hilo::pjrt

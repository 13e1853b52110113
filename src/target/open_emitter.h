// The shared object that makes machine code. Private to `target`.
#pragma once

#include "emit/emit.h"

namespace hilo {

struct Emitter {
  decltype(&hilo_emit) emit;
  decltype(&hilo_find_registers) find_registers;
  decltype(&hilo_open_emitter) open;
};
// Opened once, by the first call that can. Unsupported, and what to set, where it is not found.
Result<Emitter> find_emitter();

}  // namespace hilo

// The rows of CPUs. Private to `machine`.
#pragma once

#include <array>

#include "machine/machine.h"

// As machines.def writes sizes.
#define KIB(n) (int64_t{n} << 10)
#define MIB(n) (int64_t{n} << 20)
#define GIB(n) (int64_t{n} << 30)

namespace hilo {

// The alignment that XLA:CPU gives to buffers.
constexpr std::array<MemorySpace, 2> cpu_spaces() {
  return {{{0, "host", 0, 64, 1, 0}, {5, "host", 0, 64, 1, 0}}};
}
std::span<const Machine> processors();

}  // namespace hilo

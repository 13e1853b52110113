// Counter-based generators, many counters at once. Private to `kernels`.
#pragma once

#include "kernels/kernels.h"

namespace hilo {

// Those of threefry() of this counter and the next ones: all first words, all second ones.
constexpr int threefry_lanes = 16;
using ThreefryWords = std::array<std::array<uint32_t, threefry_lanes>, 2>;
ThreefryWords threefry_of_many(uint64_t key, uint64_t counter);

}  // namespace hilo

// Counter-based generators, bit for bit those of XLA. Private to `eval`.
#pragma once

#include <array>
#include <cstdint>

namespace hilo {

// Threefry-2x32 with 20 rounds and Philox-4x32 with 10 (Salmon et al., "Parallel random numbers: as
// easy as 1, 2, 3", SC 2011). Words of a 64- or 128-bit counter and of the key, low word first.
std::array<uint32_t, 2> threefry(uint64_t key, uint64_t counter);
// Those of this counter and the next ones: all first words, all second ones.
constexpr int threefry_lanes = 16;
using ThreefryWords = std::array<std::array<uint32_t, threefry_lanes>, 2>;
ThreefryWords threefry_of_many(uint64_t key, uint64_t counter);
std::array<uint32_t, 4> philox(uint64_t key, uint64_t counter_low, uint64_t counter_high);

}  // namespace hilo

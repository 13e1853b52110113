#include "kernels/random/random_bits.h"

#include <bit>

namespace hilo {

namespace {

using Words [[gnu::vector_size(threefry_lanes * sizeof(uint32_t))]] = uint32_t;

// Numbers, or vectors of them.
template <class T>
void mix(uint64_t key, T& x, T& y) {
  constexpr int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  const uint32_t keys[3] = {k0, k1, k0 ^ k1 ^ 0x1bd11bda};
  x += k0;
  y += k1;
  for (uint32_t group = 0; group < 5; ++group) {
    for (int rotation : rotations[group % 2]) {
      x += y;
      y = (y << rotation | y >> (32 - rotation)) ^ x;
    }
    x += keys[(group + 1) % 3];
    y += keys[(group + 2) % 3] + group + 1;
  }
}

}  // namespace

std::array<uint32_t, 2> threefry(uint64_t key, uint64_t counter) {
  uint32_t x = static_cast<uint32_t>(counter), y = static_cast<uint32_t>(counter >> 32);
  mix(key, x, y);
  return {x, y};
}

ThreefryWords threefry_of_many(uint64_t key, uint64_t counter) {
  Words x, y;
  for (int i = 0; i < threefry_lanes; ++i) {
    const uint64_t lane = counter + static_cast<uint64_t>(i);
    x[i] = static_cast<uint32_t>(lane);
    y[i] = static_cast<uint32_t>(lane >> 32);
  }
  mix(key, x, y);
  return std::bit_cast<ThreefryWords>(std::array{x, y});
}

std::array<uint32_t, 4> philox(uint64_t key, uint64_t counter_low, uint64_t counter_high) {
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  uint32_t x[4] = {static_cast<uint32_t>(counter_low), static_cast<uint32_t>(counter_low >> 32),
                   static_cast<uint32_t>(counter_high), static_cast<uint32_t>(counter_high >> 32)};
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xd2511f53} * x[0], b = uint64_t{0xcd9e8d57} * x[2];
    x[0] = static_cast<uint32_t>(b >> 32) ^ x[1] ^ k0;
    x[2] = static_cast<uint32_t>(a >> 32) ^ x[3] ^ k1;
    x[1] = static_cast<uint32_t>(b), x[3] = static_cast<uint32_t>(a);
    k0 += 0x9e3779b9, k1 += 0xbb67ae85;
  }
  return {x[0], x[1], x[2], x[3]};
}

}  // namespace hilo

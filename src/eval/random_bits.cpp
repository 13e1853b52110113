#include "eval/random_bits.h"

#include <bit>

namespace hilo {

std::array<uint32_t, 2> threefry(uint64_t key, uint64_t counter) {
  constexpr int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  const uint32_t keys[3] = {k0, k1, k0 ^ k1 ^ 0x1bd11bda};
  uint32_t x = static_cast<uint32_t>(counter) + k0;
  uint32_t y = static_cast<uint32_t>(counter >> 32) + k1;
  for (uint32_t group = 0; group < 5; ++group) {
    for (int rotation : rotations[group % 2]) {
      x += y;
      y = std::rotl(y, rotation) ^ x;
    }
    x += keys[(group + 1) % 3];
    y += keys[(group + 2) % 3] + group + 1;
  }
  return {x, y};
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

#include "eval/reference/reference.h"

namespace hilo::reference {
namespace {

void put(Literal& out, int64_t at, uint64_t word) {
  visit_storage(out.type(), [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>) out.mutable_data<T>()[at] = static_cast<T>(word);
  });
}

// One counter gives one element of 64 bits, or two neighbours in the dimension that is halved for
// the counters: the first of even size, else the first longest.
int64_t fill_threefry(uint64_t key, uint64_t counter, Literal& out) {
  int64_t steps = 0;
  if (bits_of(out.type()) == 64) {
    for (; steps < out.count(); ++steps) {
      const auto [low, high] = threefry(key, counter + static_cast<uint64_t>(steps));
      put(out, steps, low | uint64_t{high} << 32);
    }
    return steps;
  }
  const Dims dims = out.shape().dims.empty() ? Dims{1} : out.shape().dims;
  auto halved = std::ranges::find_if(dims, [](int64_t size) { return size % 2 == 0; });
  if (halved == dims.end()) halved = std::ranges::max_element(dims);
  const size_t d = static_cast<size_t>(halved - dims.begin());
  Dims counters = dims;
  counters[d] = (dims[d] + 1) / 2;
  const Dims strides = row_major_strides(dims);
  for_each_index(counters, [&](Dims index) {
    const auto words = threefry(key, counter + static_cast<uint64_t>(steps++));
    index[d] *= 2;
    put(out, offset(index, strides), words[0]);
    if (++index[d] < dims[d]) put(out, offset(index, strides), words[1]);
  });
  return steps;
}

// One counter gives two elements of 64 bits, or four.
int64_t fill_philox(uint64_t key, uint64_t low, uint64_t high, Literal& out) {
  const int64_t together = bits_of(out.type()) == 64 ? 2 : 4;
  int64_t steps = 0;
  for (int64_t at = 0; at < out.count(); at += together, ++steps) {
    const uint64_t counter = low + static_cast<uint64_t>(steps);
    const auto words = philox(key, counter, high + (counter < low ? 1 : 0));
    for (int64_t i = 0; i < std::min(together, out.count() - at); ++i)
      put(out, at + i, together == 4 ? words[i] : words[2 * i] | uint64_t{words[2 * i + 1]} << 32);
  }
  return steps;
}

}  // namespace

std::array<uint32_t, 2> threefry(uint64_t key, uint64_t counter) {
  constexpr uint32_t rotations[] = {13, 15, 26, 6, 17, 29, 16, 24};
  const uint32_t first = static_cast<uint32_t>(key), second = static_cast<uint32_t>(key >> 32);
  const uint32_t keys[] = {first, second, 0x1bd11bda ^ first ^ second};
  uint32_t x = static_cast<uint32_t>(counter) + first;
  uint32_t y = static_cast<uint32_t>(counter >> 32) + second;
  for (uint32_t round = 0; round < 20; ++round) {
    const uint32_t bits = rotations[round % 8];
    x += y;
    y = (y << bits | y >> (32 - bits)) ^ x;
    if (round % 4 != 3) continue;
    const uint32_t injection = round / 4 + 1;
    x += keys[injection % 3];
    y += keys[(injection + 1) % 3] + injection;
  }
  return {x, y};
}

std::array<uint32_t, 4> philox(uint64_t key, uint64_t counter_low, uint64_t counter_high) {
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  std::array<uint32_t, 4> x = {
      static_cast<uint32_t>(counter_low), static_cast<uint32_t>(counter_low >> 32),
      static_cast<uint32_t>(counter_high), static_cast<uint32_t>(counter_high >> 32)};
  for (int round = 0; round < 10; ++round) {
    const uint64_t first = uint64_t{0xd2511f53} * x[0], third = uint64_t{0xcd9e8d57} * x[2];
    x = {static_cast<uint32_t>(third >> 32) ^ x[1] ^ k0, static_cast<uint32_t>(third),
         static_cast<uint32_t>(first >> 32) ^ x[3] ^ k1, static_cast<uint32_t>(first)};
    k0 += 0x9e3779b9, k1 += 0xbb67ae85;
  }
  return x;
}

int64_t rng_bits(RngAlgorithm algorithm, uint64_t key, uint64_t low, uint64_t high, Literal& out) {
  if (algorithm == RngAlgorithm::ThreeFry) return fill_threefry(key, low, out);
  return fill_philox(key, low, high, out);
}

}  // namespace hilo::reference

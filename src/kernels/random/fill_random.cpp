// Arrays of random bits.
#include <algorithm>
#include <cstring>

#include "kernels/kernels.h"
#include "kernels/random/random_bits.h"

namespace hilo {
namespace {

// Where the words of 32 bits of three_fry go: the two of each counter stand next to each other in a
// dimension that is halved for the counters, the first even one, else the first longest.
struct Halved {
  Dims dims;  // of the counters
  size_t dim = 0;
};
Halved halved(Dims dims) {
  if (dims.empty()) dims = {1};
  const auto even = std::ranges::find_if(dims, [](int64_t size) { return size % 2 == 0; });
  const auto at = even != dims.end() ? even : std::ranges::max_element(dims);
  const size_t dim = at - dims.begin();
  dims[dim] = (dims[dim] + 1) / 2;
  return {dims, dim};
}

// Calls `take` with each step from begin to end and its two words.
template <class Take>
void for_each_threefry(uint64_t key, uint64_t counter, int64_t begin, int64_t end, Take take) {
  for (int64_t first = begin; first < end; first += threefry_lanes) {
    const ThreefryWords words = threefry_of_many(key, counter + static_cast<uint64_t>(first));
    const int64_t lanes = std::min<int64_t>(threefry_lanes, end - first);
    for (int64_t lane = 0; lane < lanes; ++lane)
      take(first + lane, words[0][static_cast<size_t>(lane)], words[1][static_cast<size_t>(lane)]);
  }
}

// Both call put(element, word) for each element, and return the steps that the counter made.
template <class Put>
int64_t threefry_words(const Parallel& parallel, const Shape& shape, uint64_t key, uint64_t counter,
                       Put put) {
  if (bits_of(shape.type) == 64) {
    const int64_t steps = element_count(shape);
    parallel(steps, 4096, [&](int64_t begin, int64_t end) {
      for_each_threefry(key, counter, begin, end, [&](int64_t i, uint32_t low, uint32_t high) {
        put(i, low | uint64_t{high} << 32);
      });
    });
    return steps;
  }
  const Halved half = halved(shape.dims);
  const int64_t full = shape.dims.empty() ? 1 : shape.dims[half.dim];
  const int64_t inner = row_major_strides(half.dims)[half.dim], size = half.dims[half.dim];
  const int64_t steps = element_count(half.dims);
  parallel(steps, 4096, [&](int64_t begin, int64_t end) {
    if (inner == 1 && full % 2 == 0)
      return for_each_threefry(key, counter, begin, end, [&](int64_t i, uint32_t a, uint32_t b) {
        put(2 * i, a);
        put(2 * i + 1, b);
      });
    if (begin == end) return;
    int64_t outer = begin / inner / size, place = begin / inner % size * 2, rest = begin % inner;
    for_each_threefry(key, counter, begin, end, [&](int64_t, uint32_t first, uint32_t second) {
      const int64_t at = (outer * full + place) * inner + rest;
      put(at, first);
      if (place + 1 < full) put(at + inner, second);
      if (++rest < inner) return;
      rest = 0, place += 2;
      if (place >= 2 * size) place = 0, ++outer;
    });
  });
  return steps;
}

template <class Put>
int64_t philox_words(const Parallel& parallel, const Shape& shape, uint64_t key, uint64_t low,
                     uint64_t high, Put put) {
  const int64_t count = element_count(shape), per_step = bits_of(shape.type) == 64 ? 2 : 4;
  const int64_t steps = (count + per_step - 1) / per_step;
  parallel(steps, 4096, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const uint64_t step = low + static_cast<uint64_t>(i);
      const auto four = philox(key, step, high + (step < low));
      for (int64_t j = 0; j < per_step && i * per_step + j < count; ++j)
        put(i * per_step + j,
            per_step == 4 ? four[j] : four[2 * j] | uint64_t{four[2 * j + 1]} << 32);
    }
  });
  return steps;
}

template <class Word>
int64_t fill(RandomAlgorithm algorithm, uint64_t key, uint64_t low, uint64_t high,
             const Shape& shape, std::byte* out, const Parallel& parallel) {
  const auto put = [out](int64_t at, uint64_t word) {
    const Word bits = static_cast<Word>(word);
    std::memcpy(out + at * static_cast<int64_t>(sizeof(Word)), &bits, sizeof(Word));
  };
  if (algorithm == RandomAlgorithm::ThreeFry) return threefry_words(parallel, shape, key, low, put);
  return philox_words(parallel, shape, key, low, high, put);
}

}  // namespace

int64_t fill_random(RandomAlgorithm algorithm, uint64_t key, uint64_t low, uint64_t high,
                    const Shape& shape, std::byte* out, const Parallel& parallel) {
  switch (bits_of(shape.type)) {
    case 8: return fill<uint8_t>(algorithm, key, low, high, shape, out, parallel);
    case 16: return fill<uint16_t>(algorithm, key, low, high, shape, out, parallel);
    case 32: return fill<uint32_t>(algorithm, key, low, high, shape, out, parallel);
    default: return fill<uint64_t>(algorithm, key, low, high, shape, out, parallel);
  }
}

}  // namespace hilo

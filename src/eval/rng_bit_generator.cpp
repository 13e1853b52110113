// rng-bit-generator: XLA's bits. The state is u64: a key and a counter of one word (three_fry) or
// two (philox); with only one word, philox takes the key again as the counter's high word, and
// gives back the low one. rng_default is philox. Types narrower than 32 bits keep the low bits of
// one word for each element.
#include <algorithm>
#include <cstring>

#include "eval/call.h"
#include "eval/positions.h"
#include "eval/random_bits.h"

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
int64_t threefry_words(const Call& call, const Shape& shape, uint64_t key, uint64_t counter,
                       Put put) {
  if (bits_of(shape.type) == 64) {
    const int64_t steps = element_count(shape);
    call.parallel(steps, 4096, [&](int64_t begin, int64_t end) {
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
  call.parallel(steps, 4096, [&](int64_t begin, int64_t end) {
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
int64_t philox_words(const Call& call, const Shape& shape, uint64_t key, uint64_t low,
                     uint64_t high, Put put) {
  const int64_t count = element_count(shape), per_step = bits_of(shape.type) == 64 ? 2 : 4;
  const int64_t steps = (count + per_step - 1) / per_step;
  call.parallel(steps, 4096, [&](int64_t begin, int64_t end) {
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

// The state as 64-bit words, from u64 or from pairs of u32.
std::vector<uint64_t> state_words(const Literal& state) {
  std::vector<uint64_t> out;
  const int64_t per_word = state.type() == ElementType::U32 ? 2 : 1;
  for (int64_t i = 0; i + per_word <= state.count(); i += per_word) {
    uint64_t word = static_cast<uint64_t>(state.integer_at(i));
    if (per_word == 2) word |= static_cast<uint64_t>(state.integer_at(i + 1)) << 32;
    out.push_back(word);
  }
  return out;
}

// Fills an array with the low bits of words; the steps of the counter.
template <class Word>
int64_t fill(const Call& call, RngAlgorithm algorithm, const std::vector<uint64_t>& state,
             Literal& out) {
  std::byte* const to = out.mutable_raw().data();
  const auto put = [to](int64_t at, uint64_t word) {
    const Word low = static_cast<Word>(word);
    std::memcpy(to + at * static_cast<int64_t>(sizeof(Word)), &low, sizeof(Word));
  };
  if (algorithm == RngAlgorithm::ThreeFry)
    return threefry_words(call, out.shape(), state[0], state[1], put);
  return philox_words(call, out.shape(), state[0], state[1], state.size() > 2 ? state[2] : state[0],
                      put);
}

int64_t fill_any(const Call& call, RngAlgorithm algorithm, const std::vector<uint64_t>& state,
                 Literal& out) {
  switch (bits_of(out.type())) {
    case 8: return fill<uint8_t>(call, algorithm, state, out);
    case 16: return fill<uint16_t>(call, algorithm, state, out);
    case 32: return fill<uint32_t>(call, algorithm, state, out);
    default: return fill<uint64_t>(call, algorithm, state, out);
  }
}

void store_state(const std::vector<uint64_t>& state, Literal& out) {
  if (out.type() == ElementType::U64) {
    std::ranges::copy(std::span(state).first(static_cast<size_t>(out.count())),
                      out.mutable_data<uint64_t>().begin());
    return;
  }
  auto to = out.mutable_data<uint32_t>();
  for (size_t i = 0; i < to.size(); ++i)
    to[i] = static_cast<uint32_t>(state[i / 2] >> (i % 2 * 32));
}

}  // namespace

Result<Literal> evaluate_RngBitGenerator(Call& call) {
  const auto algorithm = call.attributes<RngBitGeneratorAttributes>().algorithm;
  const Literal& given = call.operands[0];
  if (given.type() != ElementType::U64 && given.type() != ElementType::U32)
    return call.error(ErrorKind::Shape, "rng-bit-generator: the state must be u64 or u32");
  std::vector<uint64_t> state = state_words(given);
  const bool bits_alone = call.shape().is_array();  // TPU modules compute the next state apart
  const Shape& shape = bits_alone ? call.shape() : call.shape().elements.at(1);
  if (state.size() < 2 || !is_array(shape.type) || bits_of(shape.type) < 8)
    return call.error(ErrorKind::Shape, "rng-bit-generator: expected a state of two words or more");
  Literal out = call.make();
  if (bits_alone) {
    fill_any(call, algorithm, state, out);
    return out;
  }
  const int64_t steps = fill_any(call, algorithm, state, out.mutable_elements()[1]);
  state[1] += static_cast<uint64_t>(steps);
  if (algorithm != RngAlgorithm::ThreeFry && state.size() > 2 &&
      state[1] < static_cast<uint64_t>(steps))
    ++state[2];
  store_state(state, out.mutable_elements()[0]);
  return out;
}

}  // namespace hilo

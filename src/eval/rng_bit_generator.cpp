// rng-bit-generator: XLA's bits. The state is u64: a key and a counter of one word (three_fry) or
// two (philox); with only one word, philox takes the key again as the counter's high word, and
// gives back the low one. rng_default is philox. Types narrower than 32 bits keep the low bits of
// one word for each element.
#include <algorithm>

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

struct Generated {
  std::vector<uint64_t> words;  // one an element
  int64_t steps;                // of the counter
};

Generated threefry_words(const Call& call, const Shape& shape, uint64_t key, uint64_t counter) {
  Generated out{std::vector<uint64_t>(element_count(shape)), 0};
  if (bits_of(shape.type) == 64) {
    out.steps = out.words.size();
    call.parallel(out.steps, 4096, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const auto pair = threefry(key, counter + i);
        out.words[i] = pair[0] | uint64_t{pair[1]} << 32;
      }
    });
    return out;
  }
  const Halved half = halved(shape.dims);
  const int64_t full = shape.dims.empty() ? 1 : shape.dims[half.dim];
  const int64_t inner = row_major_strides(half.dims)[half.dim], size = half.dims[half.dim];
  out.steps = element_count(half.dims);
  call.parallel(out.steps, 4096, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto pair = threefry(key, counter + i);
      const int64_t outer = i / inner / size, place = i / inner % size * 2, rest = i % inner;
      const int64_t at = (outer * full + place) * inner + rest;
      out.words[at] = pair[0];
      if (place + 1 < full) out.words[at + inner] = pair[1];
    }
  });
  return out;
}

Generated philox_words(const Call& call, const Shape& shape, uint64_t key, uint64_t low,
                       uint64_t high) {
  const int64_t count = element_count(shape), per_step = bits_of(shape.type) == 64 ? 2 : 4;
  Generated out{std::vector<uint64_t>(count), (count + per_step - 1) / per_step};
  call.parallel(out.steps, 4096, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const uint64_t step = low + static_cast<uint64_t>(i);
      const auto four = philox(key, step, high + (step < low));
      for (int64_t j = 0; j < per_step && i * per_step + j < count; ++j)
        out.words[i * per_step + j] =
            per_step == 4 ? four[j] : four[2 * j] | uint64_t{four[2 * j + 1]} << 32;
    }
  });
  return out;
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

void store_words(const std::vector<uint64_t>& words, Literal& out) {
  visit_storage(out.type(), [&]<class T>(std::type_identity<T>) {
    auto to = out.mutable_data<T>();
    for (size_t i = 0; i < words.size(); ++i) {
      if constexpr (sizeof(T) <= 8 && std::is_trivially_copyable_v<T>)
        std::copy_n(reinterpret_cast<const std::byte*>(&words[i]), sizeof(T),
                    reinterpret_cast<std::byte*>(&to[i]));
    }
  });
}

void store_state(const std::vector<uint64_t>& state, Literal& out) {
  if (out.type() == ElementType::U64) return store_words(state, out);
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
  const Shape& shape = call.shape().elements[1];
  if (state.size() < 2 || !is_array(shape.type) || bits_of(shape.type) < 8)
    return call.error(ErrorKind::Shape, "rng-bit-generator: expected a state of two words or more");
  Literal out = call.make();
  Generated bits;
  if (algorithm == RngAlgorithm::ThreeFry) {
    bits = threefry_words(call, shape, state[0], state[1]);
    state[1] += bits.steps;
  } else {
    bits = philox_words(call, shape, state[0], state[1], state.size() > 2 ? state[2] : state[0]);
    state[1] += bits.steps;
    if (state.size() > 2 && state[1] < static_cast<uint64_t>(bits.steps)) ++state[2];
  }
  store_state(state, out.mutable_elements()[0]);
  store_words(bits.words, out.mutable_elements()[1]);
  return out;
}

}  // namespace hilo

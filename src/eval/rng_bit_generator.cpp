// rng-bit-generator: XLA's bits. The state is u64: a key and a counter of one word (three_fry) or
// two (philox); with only one word, philox takes the key again as the counter's high word, and
// gives back the low one. rng_default is philox. Types narrower than 32 bits keep the low bits of
// one word for each element.
#include <algorithm>

#include "eval/reference/reference.h"

namespace hilo {
namespace {

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

int64_t fill(const Call& call, RngAlgorithm algorithm, const std::vector<uint64_t>& state,
             Literal& out) {
  const uint64_t high = state.size() > 2 ? state[2] : state[0];
  if (call.is_reference()) return reference::rng_bits(algorithm, state[0], state[1], high, out);
  return fill_random(
      algorithm == RngAlgorithm::ThreeFry ? RandomAlgorithm::ThreeFry : RandomAlgorithm::Philox,
      state[0], state[1], high, out.shape(), out.mutable_raw().data(), call.in_chunks());
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
    fill(call, algorithm, state, out);
    return out;
  }
  const int64_t steps = fill(call, algorithm, state, out.mutable_elements()[1]);
  state[1] += static_cast<uint64_t>(steps);
  if (algorithm != RngAlgorithm::ThreeFry && state.size() > 2 &&
      state[1] < static_cast<uint64_t>(steps))
    ++state[2];
  store_state(state, out.mutable_elements()[0]);
  return out;
}

}  // namespace hilo

#include <algorithm>
#include <numbers>

#include "tools/input_spec.h"

namespace hilo::tools {
namespace {

// Vigna's splitmix64 as a counter: output number `index` of the stream that starts at `state`.
uint64_t splitmix(uint64_t state, uint64_t index) {
  uint64_t z = state + (index + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

// A tenth of the sum of the output's four 16-bit parts, less its mean, over its standard deviation:
// nearly normal (P. Hall, "The distribution of means for samples of size N", Biometrika 1927).
float normal(uint64_t stream, uint64_t index) {
  constexpr uint64_t every_second = 0x0000ffff0000ffffull;
  constexpr int64_t mean = 4 * 0xffff / 2;
  const uint64_t bits = splitmix(stream, index);
  const uint64_t two = (bits & every_second) + (bits >> 16 & every_second);
  const auto sum = static_cast<int64_t>((two & 0xffffffff) + (two >> 32));
  return static_cast<float>(static_cast<double>(sum - mean) * (std::numbers::sqrt3 / 655360));
}

template <class T>
T draw(uint64_t stream, uint64_t index, ElementType type) {
  if constexpr (requires(T z) { z.imag(); }) {
    using Part = typename T::value_type;
    return T(static_cast<Part>(normal(stream, 2 * index)),
             static_cast<Part>(normal(stream, 2 * index + 1)));
  } else {
    if (is_floating(type)) return T(normal(stream, index));
    const int bits = type == ElementType::Pred ? 1 : bits_of(type) - (is_signed(type) ? 1 : 0);
    return T(static_cast<int>(splitmix(stream, index) % (1u << std::min(bits, 3))));
  }
}

}  // namespace

Literal random_input(const Shape& shape, uint64_t seed, int64_t leaf, int64_t device) {
  if (!shape.is_array()) return Literal::zeros(shape);
  Literal out = Literal::uninitialized(shape);
  const uint64_t stream = splitmix((seed << 32) + (static_cast<uint64_t>(leaf) << 16) + device, 0);
  visit_storage(shape.type, [&]<class T>(std::type_identity<T>) {
    auto data = out.mutable_data<T>();
    constexpr int64_t grain = 1 << 16;
    const int64_t count = static_cast<int64_t>(data.size()), tiles = (count + grain - 1) / grain;
    ThreadPool pool(tiles > 1 ? usable_cores() : 1);
    pool.run(tiles, [&](int64_t tile) {
      const int64_t end = std::min(count, (tile + 1) * grain);
      for (int64_t i = tile * grain; i < end; ++i) data[i] = draw<T>(stream, i, shape.type);
    });
  });
  return out;
}

}  // namespace hilo::tools

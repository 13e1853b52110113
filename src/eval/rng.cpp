// rng: philox keyed by the device, counted by the number of draws before on that device and the
// element, so that the same program draws the same numbers with any number of threads.
// rng-get-and-update-state: a counter of 128 bits on each device, which starts as XLA's does.
#include <cmath>
#include <numbers>

#include "eval/reference/reference.h"

namespace hilo {
namespace {

// In [0, 1) with 53 bits.
double unit(uint32_t low, uint32_t high) {
  return static_cast<double>((uint64_t{high} << 32 | low) >> 11) * 0x1p-53;
}

double draw(RngDistribution distribution, const std::array<uint32_t, 4>& bits, double a, double b) {
  const double u = unit(bits[0], bits[1]);
  if (distribution == RngDistribution::Uniform) return a + (b - a) * u;
  // Box and Muller, "A note on the generation of random normal deviates", 1958.
  const double radius = std::sqrt(-2 * std::log1p(-u));
  return a + b * radius * std::cos(2 * std::numbers::pi * unit(bits[2], bits[3]));
}

template <class T>
T as_value(double value, RngDistribution distribution, double low, double high) {
  if constexpr (std::is_same_v<T, bool>) {
    return value >= 0.5;
  } else if constexpr (std::is_integral_v<T> || requires(T t) { t.value; }) {
    return T(static_cast<int64_t>(std::floor(value)));
  } else {
    const T rounded(value);  // rounding must not reach the open end of the interval
    const bool is_at_end =
        distribution == RngDistribution::Uniform && static_cast<double>(rounded) >= high;
    return is_at_end ? T(high - (high - low) / 64) : rounded;
  }
}

}  // namespace

Result<Literal> evaluate_Rng(Call& call) {
  const auto distribution = call.attributes<RngAttributes>().distribution;
  const double a = call.operands[0].number_at(0), b = call.operands[1].number_at(0);
  Literal out = call.make();
  if (is_complex(out.type()) || distribution == RngDistribution::Invalid)
    return call.error(ErrorKind::Unsupported, "rng of this type or distribution");
  const uint64_t draws = call.device.random_draws++,
                 key = static_cast<uint64_t>(call.device.program);
  visit_storage(out.type(), [&]<class T>(std::type_identity<T>) {
    if constexpr (!requires(T t) { t.real(); }) {
      auto to = out.mutable_data<T>();
      call.parallel(to.size(), 4096, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          to[i] = as_value<T>(draw(distribution, reference::philox(key, i, draws), a, b),
                              distribution, a, b);
      });
    }
  });
  return out;
}

Result<Literal> evaluate_RngGetAndUpdateState(Call& call) {
  Literal out = call.make();
  auto& [low, high] = call.device.random_state;
  auto to = out.mutable_data<uint64_t>();
  if (to.size() != 2) return call.error(ErrorKind::Shape, "rng-get-and-update-state gives u64[2]");
  to[0] = low, to[1] = high;
  const uint64_t delta =
      static_cast<uint64_t>(call.attributes<RngGetAndUpdateStateAttributes>().delta);
  low += delta;
  high += low < delta;
  return out;
}

}  // namespace hilo

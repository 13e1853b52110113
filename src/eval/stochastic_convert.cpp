// stochastic-convert of floats to integers and to narrower floats: away from zero with the
// probability of the distance from the neighbour towards zero, in units of that to the next, which
// is compared with the random bits as a fixed-point number. What no neighbour is beyond converts.
#include <cmath>
#include <limits>

#include "eval/kernel.h"

namespace hilo {
namespace {

// first: bits of the result's type; second: bits of the random type.
template <class To>
void stochastic_convert(const KernelArguments& k) {
  const double* in = k.input<double>(0);
  const uint64_t* random = k.input<uint64_t>(1);
  To* out = k.output<To>();
  const double limit = std::ldexp(1.0, static_cast<int>(k.first) - std::is_signed_v<To>);
  for (int64_t i = 0; i < k.n; ++i) {
    const double magnitude = std::fabs(in[i]), whole = std::floor(magnitude);
    const double threshold = std::ldexp(magnitude - whole, static_cast<int>(k.second));
    const double up = static_cast<double>(random[i]) < std::floor(threshold) ? whole + 1 : whole;
    const double lowest = std::is_signed_v<To> ? -limit : 0;
    const double value = std::fmax(lowest, std::copysign(up, in[i]));
    if (in[i] != in[i]) out[i] = 0;
    else out[i] = value >= limit ? To(uint64_t(limit) - 1) : To(value);
  }
}

template <class T>
constexpr bool small_float = requires(T x) {
  float(x);
  x.bits;
};

// The next larger or smaller magnitude.
template <class T>
T neighbour(T magnitude, int step) {
  if constexpr (small_float<T>)
    magnitude.bits = static_cast<decltype(magnitude.bits)>(magnitude.bits + step);
  else magnitude = std::nextafter(magnitude, step < 0 ? T(0) : std::numeric_limits<T>::max());
  return magnitude;
}

double value_of(auto x) { return static_cast<double>(static_cast<float>(x)); }

template <class T>
void stochastic_round(const KernelArguments& k) {
  const double* in = k.input<double>(0);
  const uint64_t* random = k.input<uint64_t>(1);
  float* out = k.output<float>();
  for (int64_t i = 0; i < k.n; ++i) {
    const double size = std::fabs(in[i]);
    out[i] = static_cast<float>(T(in[i]));
    if (std::isnan(out[i]) || !(size <= std::numeric_limits<double>::max())) continue;
    T low(size);
    if (value_of(low) > size) low = neighbour(low, -1);
    const double below = value_of(low), above = value_of(neighbour(low, 1));
    if (below == size || !(above > size)) continue;
    const double part = (size - below) / (above - below);
    const double threshold = std::floor(std::ldexp(part, static_cast<int>(k.second)));
    const bool away = static_cast<double>(random[i]) < threshold;
    out[i] = static_cast<float>(std::copysign(away ? above : below, in[i]));
  }
}

}  // namespace

Kernel stochastic_convert_kernel(ElementType, ElementType to) {
  static constexpr Kernel kernels[] = {stochastic_convert<uint8_t>,  stochastic_convert<int8_t>,
                                       stochastic_convert<uint16_t>, stochastic_convert<int16_t>,
                                       stochastic_convert<uint32_t>, stochastic_convert<int32_t>,
                                       stochastic_convert<uint64_t>, stochastic_convert<int64_t>};
  if (is_integral(to)) return kernels[static_cast<size_t>(representation_of(to))];
  return visit_storage(to, []<class T>(std::type_identity<T>) -> Kernel {
    if constexpr (small_float<T> || std::is_same_v<T, float>) return stochastic_round<T>;
    else return nullptr;
  });
}

}  // namespace hilo

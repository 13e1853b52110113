// stochastic-convert of floats to integers: away from zero with the probability of the fraction,
// which is compared with the random bits as a fixed-point number.
#include <cmath>

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

}  // namespace

Kernel stochastic_convert_kernel(ElementType, ElementType to) {
  static constexpr Kernel kernels[] = {stochastic_convert<uint8_t>,  stochastic_convert<int8_t>,
                                       stochastic_convert<uint16_t>, stochastic_convert<int16_t>,
                                       stochastic_convert<uint32_t>, stochastic_convert<int32_t>,
                                       stochastic_convert<uint64_t>, stochastic_convert<int64_t>};
  return is_integral(to) ? kernels[static_cast<size_t>(representation_of(to))] : nullptr;
}

}  // namespace hilo

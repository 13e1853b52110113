#include "kernels/fft/fft_passes.h"

#include <bit>
#include <limits>
#include <numbers>
#include <type_traits>
#include <utility>

#include "base/base.h"

namespace hilo {
namespace {

// cos and sin of 2 pi j / radix.
template <int radix>
struct Circle;
template <>
struct Circle<3> {
  static constexpr double cosines[] = {1, -0.5};
  static constexpr double sines[] = {0, 0.86602540378443864676};
};
template <>
struct Circle<5> {
  static constexpr double cosines[] = {1, 0.30901699437494742410, -0.80901699437494742410};
  static constexpr double sines[] = {0, 0.95105651629515357212, 0.58778525229247312917};
};
template <>
struct Circle<7> {
  static constexpr double cosines[] = {1, 0.62348980185873353053, -0.22252093395631440429,
                                       -0.90096886790241912624};
  static constexpr double sines[] = {0, 0.78183148246802980871, 0.97492791218182360702,
                                     0.43388373911755812048};
};

#define HILO_KERNELS "kernels/fft/fft_passes.def"
#include "kernels/each_processor.def"

}  // namespace

template <class T>
const FftKernels<T>& fft_kernels() {
  static const FftKernels<T>& kernels = best_kernels<T>();
  return kernels;
}
template const FftKernels<float>& fft_kernels();
template const FftKernels<double>& fft_kernels();

}  // namespace hilo

#include "eval/fft_passes.h"

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

// The same code for each kind of processor.
namespace plain {
#define HILO_TARGET
#define HILO_VECTOR_BYTES 16
#include "eval/fft_passes.def"
#undef HILO_TARGET
#undef HILO_VECTOR_BYTES
}  // namespace plain
#if defined(__x86_64__) && !defined(__clang__)
namespace avx2 {
#define HILO_TARGET [[gnu::target("avx2,fma")]]
#define HILO_VECTOR_BYTES 32
#include "eval/fft_passes.def"
#undef HILO_TARGET
#undef HILO_VECTOR_BYTES
}  // namespace avx2
namespace avx512 {
#define HILO_TARGET [[gnu::target("avx512f,avx512vl,avx512dq,fma,prefer-vector-width=512")]]
#define HILO_VECTOR_BYTES 64
#include "eval/fft_passes.def"
#undef HILO_TARGET
#undef HILO_VECTOR_BYTES
}  // namespace avx512
#endif

template <class T>
const FftKernels<T>& find_kernels() {
#if defined(__x86_64__) && !defined(__clang__)
  if (processor().has_avx512) return avx512::kernels<T>;
  if (processor().has_avx2) return avx2::kernels<T>;
#endif
  return plain::kernels<T>;
}

}  // namespace

template <class T>
const FftKernels<T>& fft_kernels() {
  static const FftKernels<T>& kernels = find_kernels<T>();
  return kernels;
}
template const FftKernels<float>& fft_kernels();
template const FftKernels<double>& fft_kernels();

}  // namespace hilo

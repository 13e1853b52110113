#include "eval/fft_passes.h"

#include <numbers>
#include <type_traits>
#include <utility>

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

struct Functions {
  Planes (*run)(std::span<const FftPass>, int64_t, Planes, Planes);
  void (*read_f32)(const float*, const ComplexRows&, Planes);
  void (*read_f64)(const double*, const ComplexRows&, Planes);
  void (*write_f32)(Planes, double, const ComplexRows&, float*);
  void (*write_f64)(Planes, double, const ComplexRows&, double*);
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

const Functions& find_functions() {
#if defined(__x86_64__) && !defined(__clang__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq"))
    return avx512::functions;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2::functions;
#endif
  return plain::functions;
}
const Functions& found() {
  static const Functions& functions = find_functions();
  return functions;
}

}  // namespace

Planes run_fft_passes(std::span<const FftPass> passes, int64_t lanes, Planes values, Planes other) {
  return found().run(passes, lanes, values, other);
}

void read_complex(const float* from, const ComplexRows& rows, Planes to) {
  found().read_f32(from, rows, to);
}
void read_complex(const double* from, const ComplexRows& rows, Planes to) {
  found().read_f64(from, rows, to);
}
void write_complex(Planes from, double scale, const ComplexRows& rows, float* to) {
  found().write_f32(from, scale, rows, to);
}
void write_complex(Planes from, double scale, const ComplexRows& rows, double* to) {
  found().write_f64(from, scale, rows, to);
}

}  // namespace hilo

#include "eval/triangular_kernels.h"

#include <cmath>

#include "base/base.h"

namespace hilo {
namespace {

// The same code for each kind of processor.
namespace plain {
#define HILO_TARGET
#define HILO_VECTOR_BYTES 16
#include "eval/triangular_kernels.def"
#undef HILO_TARGET
#undef HILO_VECTOR_BYTES
}  // namespace plain
#if defined(__x86_64__) && !defined(__clang__)
namespace avx2 {
#define HILO_TARGET [[gnu::target("avx2,fma")]]
#define HILO_VECTOR_BYTES 32
#include "eval/triangular_kernels.def"
#undef HILO_TARGET
#undef HILO_VECTOR_BYTES
}  // namespace avx2
namespace avx512 {
#define HILO_TARGET [[gnu::target("avx512f,avx512vl,avx512dq,fma,prefer-vector-width=512")]]
#define HILO_VECTOR_BYTES 64
#include "eval/triangular_kernels.def"
#undef HILO_TARGET
#undef HILO_VECTOR_BYTES
}  // namespace avx512
#endif

template <class T>
const TriangularKernels<T>& find_kernels() {
#if defined(__x86_64__) && !defined(__clang__)
  if (processor().has_avx512) return avx512::kernels<T>;
  if (processor().has_avx2) return avx2::kernels<T>;
#endif
  return plain::kernels<T>;
}

}  // namespace

template <class T>
const TriangularKernels<T>& triangular_kernels() {
  static const TriangularKernels<T>& kernels = find_kernels<T>();
  return kernels;
}
template const TriangularKernels<float>& triangular_kernels();
template const TriangularKernels<double>& triangular_kernels();

}  // namespace hilo

#include "eval/blas.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <type_traits>

namespace hilo {
namespace {

constexpr int row_major = 101, not_transposed = 111, transposed = 112;

struct Library {
  void (*sgemm)(int, int, int, int, int, int, float, const float*, int, const float*, int, float,
                float*, int) = nullptr;
  void (*dgemm)(int, int, int, int, int, int, double, const double*, int, const double*, int,
                double, double*, int) = nullptr;
  void (*cgemm)(int, int, int, int, int, int, const void*, const void*, int, const void*, int,
                const void*, void*, int) = nullptr;
  void (*zgemm)(int, int, int, int, int, int, const void*, const void*, int, const void*, int,
                const void*, void*, int) = nullptr;
};

// OpenBLAS takes its oldest kernels for a CPU that is newer than it; what the CPU can do says which
// are right. $OPENBLAS_CORETYPE of the user's stays.
void name_core() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    setenv("OPENBLAS_CORETYPE", "SKYLAKEX", 0);
  else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    setenv("OPENBLAS_CORETYPE", "HASWELL", 0);
#endif
}

Library open_library() {
  Library out;
  name_core();
  void* file = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!file) return out;
  const auto find = [&](const char* name, auto& function) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(file, name));
  };
  void (*set_threads)(int) = nullptr;
  find("openblas_set_num_threads", set_threads);
  if (set_threads) set_threads(1);
  find("cblas_sgemm", out.sgemm);
  find("cblas_dgemm", out.dgemm);
  find("cblas_cgemm", out.cgemm);
  find("cblas_zgemm", out.zgemm);
  return out;
}

const Library& library() {
  static const Library opened = open_library();
  return opened;
}

int flag(bool is_transposed) { return is_transposed ? transposed : not_transposed; }

// Below this many multiplications a loop is done before the library has started.
bool is_small(int64_t m, int64_t n, int64_t k) { return m * n * k <= 4096; }

template <class T>
void plain_gemm(const Gemm<T>& p) {
  for (int64_t i = 0; i < p.m; ++i) {
    T* row = p.c + i * p.c_leading;
    if (!p.accumulate) std::fill(row, row + p.n, T(0));
    for (int64_t t = 0; t < p.k; ++t) {
      const T a = p.a_transposed ? p.a[t * p.a_leading + i] : p.a[i * p.a_leading + t];
      const T* b = p.b_transposed ? p.b + t : p.b + t * p.b_leading;
      const int64_t step = p.b_transposed ? p.b_leading : 1;
      for (int64_t j = 0; j < p.n; ++j) row[j] += a * b[j * step];
    }
  }
}

template <class T, class Function>
void real_gemm(const Gemm<T>& p, Function function) {
  function(row_major, flag(p.a_transposed), flag(p.b_transposed), p.m, p.n, p.k, T(1), p.a,
           p.a_leading, p.b, p.b_leading, T(p.accumulate ? 1 : 0), p.c, p.c_leading);
}

template <class T, class Function>
void complex_gemm(const Gemm<T>& p, Function function) {
  const T one(1), beta(p.accumulate ? 1 : 0);
  function(row_major, flag(p.a_transposed), flag(p.b_transposed), p.m, p.n, p.k, &one, p.a,
           p.a_leading, p.b, p.b_leading, &beta, p.c, p.c_leading);
}

}  // namespace

void gemm(const Gemm<float>& p) {
  if (is_small(p.m, p.n, p.k) || !library().sgemm) return plain_gemm(p);
  real_gemm(p, library().sgemm);
}
void gemm(const Gemm<double>& p) {
  if (is_small(p.m, p.n, p.k) || !library().dgemm) return plain_gemm(p);
  real_gemm(p, library().dgemm);
}
void gemm(const Gemm<std::complex<float>>& p) {
  if (is_small(p.m, p.n, p.k) || !library().cgemm) return plain_gemm(p);
  complex_gemm(p, library().cgemm);
}
void gemm(const Gemm<std::complex<double>>& p) {
  if (is_small(p.m, p.n, p.k) || !library().zgemm) return plain_gemm(p);
  complex_gemm(p, library().zgemm);
}
void gemm(const Gemm<uint64_t>& p) { plain_gemm(p); }

}  // namespace hilo

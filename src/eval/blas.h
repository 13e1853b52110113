// The library of matrix kernels (a CBLAS), opened when the first large product needs it: its start
// costs more than a small module. Private to `eval`.
#pragma once

#include <complex>
#include <cstdint>

namespace hilo {

// c[m,n] = op(a)[m,k] * op(b)[k,n] + (accumulate ? c : 0) on the calling thread; all row-major,
// `transposed` operands are stored [k,m] and [n,k]. Leading dimensions are in elements.
template <class T>
struct Gemm {
  int64_t m, n, k;
  const T* a;
  int64_t a_leading;
  bool a_transposed;
  const T* b;
  int64_t b_leading;
  bool b_transposed;
  T* c;
  int64_t c_leading;
  bool accumulate;
};
void gemm(const Gemm<float>& product);
void gemm(const Gemm<double>& product);
void gemm(const Gemm<std::complex<float>>& product);
void gemm(const Gemm<std::complex<double>>& product);
void gemm(const Gemm<uint64_t>& product);  // wraps

}  // namespace hilo

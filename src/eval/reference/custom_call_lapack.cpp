#include <cmath>

#include "eval/reference/reference.h"

namespace hilo::reference {

template <class T>
int factor_lu(int64_t rows, int64_t columns, T* a, int* pivots) {
  const auto at = [&](int64_t i, int64_t j) -> T& { return a[i * columns + j]; };
  const auto size = [&](int64_t i, int64_t j) {
    return std::abs(std::real(at(i, j))) + std::abs(std::imag(at(i, j)));
  };
  int first_zero = 0;
  for (int64_t j = 0; j < std::min(rows, columns); ++j) {
    int64_t pivot = j;
    for (int64_t i = j; i < rows; ++i)
      if (size(i, j) > size(pivot, j)) pivot = i;
    pivots[j] = static_cast<int>(pivot) + 1;
    for (int64_t c = 0; c < columns; ++c) std::swap(at(j, c), at(pivot, c));
    if (at(j, j) == T(0)) {
      if (first_zero == 0) first_zero = static_cast<int>(j) + 1;
      continue;
    }
    for (int64_t i = j + 1; i < rows; ++i) {
      at(i, j) /= at(j, j);
      for (int64_t c = j + 1; c < columns; ++c) at(i, c) -= at(i, j) * at(j, c);
    }
  }
  return first_zero;
}

// Of column j: v is 1 at j and stands below it; c -= scale v (v* c), for each column c from
// `first`.
template <class T>
static void reflect(int64_t j, int64_t rows, const T* v, int64_t v_step, T scale, T* c,
                    int64_t columns, int64_t first) {
  for (int64_t k = first; k < columns; ++k) {
    T sum = c[j * columns + k];
    for (int64_t i = j + 1; i < rows; ++i)
      sum += conjugate_if(true, v[i * v_step + j]) * c[i * columns + k];
    sum *= scale;
    c[j * columns + k] -= sum;
    for (int64_t i = j + 1; i < rows; ++i) c[i * columns + k] -= sum * v[i * v_step + j];
  }
}

template <class T>
void factor_qr(int64_t rows, int64_t columns, T* a, T* scales) {
  for (int64_t j = 0; j < std::min(rows, columns); ++j) {
    const T top = a[j * columns + j];
    RealPartOf<T> below = 0;
    for (int64_t i = j + 1; i < rows; ++i) below += std::norm(a[i * columns + j]);
    scales[j] = 0;
    if (below == 0 && std::imag(top) == 0) continue;
    const RealPartOf<T> beta = -std::copysign(std::sqrt(std::norm(top) + below), std::real(top));
    scales[j] = (beta - top) / beta;
    for (int64_t i = j + 1; i < rows; ++i) a[i * columns + j] /= top - beta;
    reflect(j, rows, a, columns, conjugate_if(true, scales[j]), a, columns, j + 1);
    a[j * columns + j] = beta;
  }
}

template <class T>
void join_reflectors(int64_t rows, int64_t columns, const T* vectors, const T* scales,
                     int64_t count, T* q) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) q[i * columns + j] = i == j ? 1 : 0;
  for (int64_t j = count - 1; j >= 0; --j)
    reflect(j, rows, vectors, columns, scales[j], q, columns, 0);
}

#define HILO_INSTANTIATE(T)                           \
  template int factor_lu(int64_t, int64_t, T*, int*); \
  template void factor_qr(int64_t, int64_t, T*, T*);  \
  template void join_reflectors(int64_t, int64_t, const T*, const T*, int64_t, T*);
HILO_INSTANTIATE(float)
HILO_INSTANTIATE(double)
HILO_INSTANTIATE(std::complex<float>)
HILO_INSTANTIATE(std::complex<double>)
#undef HILO_INSTANTIATE

}  // namespace hilo::reference

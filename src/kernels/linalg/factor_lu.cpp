// LU of small matrices whose rows lie one after the other.
#include <algorithm>
#include <cmath>

#include "kernels/kernels.h"
#include "kernels/linalg/triangular_kernels.h"

namespace hilo {
namespace {

template <class Real>
Real pivot_size(Real x) {
  return std::abs(x);
}
template <class Real>
Real pivot_size(std::complex<Real> x) {
  return std::abs(x.real()) + std::abs(x.imag());
}

template <class T>
int factor_lu_by_elements(int64_t rows, int64_t columns, T* a, int* pivots) {
  int first_zero = 0;
  for (int64_t j = 0; j < std::min(rows, columns); ++j) {
    int64_t pivot = j;
    for (int64_t i = j + 1; i < rows; ++i)
      if (pivot_size(a[i * columns + j]) > pivot_size(a[pivot * columns + j])) pivot = i;
    pivots[j] = static_cast<int>(pivot) + 1;
    T* top = a + j * columns;
    if (pivot != j) std::swap_ranges(top, top + columns, a + pivot * columns);
    if (top[j] == T(0)) {
      if (first_zero == 0) first_zero = static_cast<int>(j) + 1;
      continue;
    }
    for (int64_t i = j + 1; i < rows; ++i) {
      T* row = a + i * columns;
      const T factor = row[j] /= top[j];
      for (int64_t c = j + 1; c < columns; ++c) row[c] -= factor * top[c];
    }
  }
  return first_zero;
}

template <class T>
int factor_lu_by_vectors(int64_t rows, int64_t columns, T* a, int* pivots) {
  alignas(64) T lines[triangle_side * triangle_side];
  const TriangularKernels<T>& kernels = triangular_kernels<T>();
  const int64_t row_size = (columns + kernels.narrow - 1) / kernels.narrow * kernels.narrow;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < row_size; ++j)
      lines[i * row_size + j] = j < columns ? a[i * columns + j] : T(0);
  const int first_zero = kernels.factor_lu(rows, columns, lines, pivots);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) a[i * columns + j] = lines[i * row_size + j];
  return first_zero;
}

}  // namespace

template <class T>
int factor_lu(int64_t rows, int64_t columns, T* a, int* pivots) {
  constexpr int64_t max_scalar_columns = 4;
  if constexpr (std::is_floating_point_v<T>)
    if (columns > max_scalar_columns) return factor_lu_by_vectors(rows, columns, a, pivots);
  return factor_lu_by_elements(rows, columns, a, pivots);
}

template <class T>
int max_small_lu() {
  return has_imaginary_part<T> ? 16 : triangle_side;
}

#define HILO_INSTANTIATE(T)                           \
  template int factor_lu(int64_t, int64_t, T*, int*); \
  template int max_small_lu<T>();
HILO_INSTANTIATE(float)
HILO_INSTANTIATE(double)
HILO_INSTANTIATE(std::complex<float>)
HILO_INSTANTIATE(std::complex<double>)
#undef HILO_INSTANTIATE

}  // namespace hilo

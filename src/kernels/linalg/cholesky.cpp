// cholesky: A = L L* (lower) or U* U from the triangle that is named; the other triangle of the
// result is zero. A matrix that is not positive definite gives NaNs. Floats narrower than f32 are
// computed in f32.
#include <limits>

#include "kernels/gemm/matrix_pack.h"
#include "kernels/sharing.h"

namespace hilo {
namespace {

template <class T>
void make_factor(bool lower, int64_t n, T* a, MaybeParallel parallel) {
  MatrixView<T> matrix = dense(a, n, n);
  if (!lower) matrix = matrix.transposed();  // the transpose of U, conj(L)
  const bool whole = factor_cholesky(matrix, parallel) == n;
  if (!whole) std::fill_n(a, n * n, T(std::numeric_limits<RealPartOf<T>>::quiet_NaN()));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = i + 1; j < n; ++j) matrix(i, j) = T(0);
}

// Matrices of the type that they are computed in.
template <class T>
void make_factors(const Shape& shape, bool lower, T* a, const Parallel& parallel) {
  const int64_t n = shape.dims.back(), size = n * n,
                batches = size ? element_count(shape) / size : 0;
  if (is_alone(batches, n * size)) {
    for (int64_t i = 0; i < batches; ++i) make_factor(lower, n, a + i * size, &parallel);
    return;
  }
  const Cores& here = find_cpu("native").cores;
  const PiecesOfWork all = work_of_multiplications(batches, size * n, here);
  parallel(batches, grain_of(all, parallel.threads(), here), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) make_factor(lower, n, a + i * size, nullptr);
  });
}

}  // namespace

void cholesky(const Shape& shape, bool lower, const std::byte* a, std::byte* result,
              const Parallel& parallel) {
  const int64_t count = element_count(shape);
  visit_matrix_type(shape.type, [&]<class T>(std::type_identity<T>) {
    if (element_type<T> == shape.type) {
      T* const factors = reinterpret_cast<T*>(result);
      if (a != result) std::copy_n(reinterpret_cast<const T*>(a), count, factors);
      return make_factors(shape, lower, factors, parallel);
    }
    std::vector<T> values = values_of<T>(shape.type, a, count);
    make_factors(shape, lower, values.data(), parallel);
    store_values<T>(values, shape.type, result);
  });
}

}  // namespace hilo

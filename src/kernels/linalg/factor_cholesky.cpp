// The left half of the columns, what it leaves of the right half, and that (Gustavson, "Recursion
// leads to automatic variable blocking for dense linear-algebra algorithms", 1997).
#include "kernels/linalg/triangular_kernels.h"
#include "kernels/linalg/triangular_solve.h"

namespace hilo {
namespace {

constexpr int64_t strip = 128;  // columns of a symmetric product: half a square of each is wasted

// Rows up to which a library takes longer.
constexpr int64_t few = 96;

// LAPACK's, column by column: a row-major lower triangle is an upper one, of the transpose. Nothing
// where it does not take the matrix.
template <class T>
std::optional<int64_t> factor_by_library(MatrixView<T> a) {
  static const Lapack<T> potrf("potrf");
  const bool is_transposed = a.row_step == 1;
  if (!potrf || a.rows > INT32_MAX || (!is_transposed && a.column_step != 1)) return std::nullopt;
  const char triangle = is_transposed ? 'L' : 'U';
  const int n = static_cast<int>(a.rows);
  const int leading = static_cast<int>(is_transposed ? a.column_step : a.row_step);
  int info = 0;
  potrf(&triangle, &n, a.data, &leading, &info);
  return info > 0 ? info - 1 : n;
}

template <class T>
int64_t factor_block(MatrixView<T> a) {
  constexpr int64_t size = triangle_side * triangle_side;
  const TriangularKernels<RealPartOf<T>>& kernels = triangular_kernels<RealPartOf<T>>();
  alignas(64) RealPartOf<T> re[size];
  const auto visit = [&](auto body) {
    for (int64_t i = 0; i < a.rows; ++i)
      for (int64_t j = 0; j <= i; ++j) body(a(i, j), j * triangle_side + i);
  };
  if constexpr (has_imaginary_part<T>) {
    alignas(64) RealPartOf<T> im[size];
    visit([&](T& x, int64_t place) { re[place] = x.real(), im[place] = -x.imag(); });
    const int64_t done = kernels.factor_complex(re, im, a.rows);
    visit([&](T& x, int64_t place) { x = {re[place], -im[place]}; });
    return done;
  } else {
    std::fill_n(re, a.rows * triangle_side, T(0));
    visit([&](T& x, int64_t place) { re[place] = x; });
    const int64_t done = kernels.factor(re, a.rows);
    visit([&](T& x, int64_t place) { x = re[place]; });
    return done;
  }
}

}  // namespace

template <class T>
int64_t factor_cholesky(MatrixView<T> a, MaybeParallel parallel) {
  const int64_t n = a.rows;
  if (n > few)
    if (const std::optional<int64_t> done = factor_by_library(a)) return *done;
  if (n <= triangle_side) return factor_block(a);
  const int64_t half = (n / 2 + triangle_side - 1) / triangle_side * triangle_side, rest = n - half;
  const MatrixView<T> first = a.block(0, 0, half, half), below = a.block(half, 0, rest, half),
                      second = a.block(half, half, rest, rest);
  if (const int64_t done = factor_cholesky(first, parallel); done < half) return done;
  const auto known = [](MatrixView<T> x) {
    return MatrixView<const T>{x.data, x.rows, x.columns, x.row_step, x.column_step};
  };
  solve_triangle(Triangle<T>{known(first), true}, below.transposed(), parallel);
  for (int64_t j = 0; j < rest; j += strip) {
    const int64_t columns = std::min(strip, rest - j);
    subtract_product(second.block(j, j, rest - j, columns),
                     known(below.block(j, 0, rest - j, half)),
                     known(below.block(j, 0, columns, half)).transposed(), true, parallel);
  }
  const int64_t done = factor_cholesky(second, parallel);
  return half + done;
}

#define HILO_INSTANTIATE(T) template int64_t factor_cholesky(MatrixView<T>, MaybeParallel);
HILO_INSTANTIATE(float)
HILO_INSTANTIATE(double)
HILO_INSTANTIATE(std::complex<float>)
HILO_INSTANTIATE(std::complex<double>)
#undef HILO_INSTANTIATE

}  // namespace hilo

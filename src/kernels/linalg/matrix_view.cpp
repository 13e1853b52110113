#include "kernels/linalg/matrix_view.h"

#include "kernels/gemm/matrix_product.h"
#include "kernels/packed_memory.h"

namespace hilo {
namespace {

// Rows and columns in the order of memory, and those of c side by side.
template <class T>
struct Product {
  MatrixView<T> c;
  MatrixView<const T> a, b;
  bool conjugates_a = false, conjugates_b = false;

  void order() {
    if (c.column_step != 1 && c.column_step != -1) {
      c = c.transposed();
      std::swap(a, b);
      a = a.transposed(), b = b.transposed();
      std::swap(conjugates_a, conjugates_b);
    }
    if (c.row_step < 0) c = c.rows_reversed(), a = a.rows_reversed();
    if (c.column_step < 0) c = c.columns_reversed(), b = b.columns_reversed();
    if (a.column_step < 0) a = a.columns_reversed(), b = b.rows_reversed();
  }
};

template <class T>
MatrixView<const T> negated(MatrixView<const T> from, T* to) {
  for (int64_t i = 0; i < from.rows; ++i)
    for (int64_t j = 0; j < from.columns; ++j) to[i * from.columns + j] = -from(i, j);
  return {to, from.rows, from.columns, from.columns, 1};
}

template <class T>
MatrixSource rows_of(MatrixView<const T> a) {
  return {a.data, element_type<T>, a.row_step, a.column_step};
}

template <class T>
void run(const Product<T>& p, MaybeParallel parallel) {
  const MatrixKernel* kernel =
      matrix_kernels(element_type<T>, element_type<T>, element_type<T>).front();
  MatrixProduct product{kernel,      p.c.rows,     p.c.columns,
                        p.a.columns, rows_of(p.a), rows_of(p.b.transposed())};
  product.out = p.c.data, product.leading = p.c.row_step, product.accumulate = true;
  if (parallel) run_matrix_product(product, *parallel);
  else run_matrix_product(product);
}

// Real parts and imaginary parts in turn.
template <class Real>
MatrixView<const Real> parts_of(MatrixView<const std::complex<Real>> from, bool conjugates,
                                Real* to) {
  Real* next = to;
  for (int64_t i = 0; i < from.rows; ++i)
    for (int64_t j = 0; j < from.columns; ++j) {
      const std::complex<Real> value = conjugate_if(conjugates, from(i, j));
      *next++ = value.real(), *next++ = value.imag();
    }
  return {to, from.rows, 2 * from.columns, 2 * from.columns, 1};
}

// For each row, negated: what real parts are multiplied by, and what imaginary parts are.
template <class Real>
MatrixView<const Real> negated_lines(MatrixView<const std::complex<Real>> from, bool conjugates,
                                     Real* to) {
  const int64_t width = 2 * from.columns;
  for (int64_t i = 0; i < from.rows; ++i)
    for (int64_t j = 0; j < from.columns; ++j) {
      const std::complex<Real> value = conjugate_if(conjugates, from(i, j));
      Real* line = to + 2 * i * width + 2 * j;
      line[0] = -value.real(), line[1] = -value.imag();
      line[width] = value.imag(), line[width + 1] = -value.real();
    }
  return {to, 2 * from.rows, width, width, 1};
}

}  // namespace

template <class T>
void subtract_product(MatrixView<T> c, MatrixView<const T> a, MatrixView<const T> b,
                      bool conjugates, MaybeParallel parallel) {
  if (c.rows == 0 || c.columns == 0 || a.columns == 0) return;
  using Real = RealPartOf<T>;
  Product<T> p{c, a, b, false, conjugates};
  p.order();
  thread_local PackedMemory memory;
  const int64_t of_a = p.a.rows * p.a.columns, of_b = p.b.rows * p.b.columns;
  if constexpr (has_imaginary_part<T>) {
    auto* space = reinterpret_cast<Real*>(
        memory.take((2 * of_a + 4 * of_b) * static_cast<int64_t>(sizeof(Real))));
    const MatrixView<Real> out{reinterpret_cast<Real*>(p.c.data), p.c.rows, 2 * p.c.columns,
                               2 * p.c.row_step, 1};
    run<Real>({out, parts_of<Real>(p.a, p.conjugates_a, space),
               negated_lines<Real>(p.b, p.conjugates_b, space + 2 * of_a)},
              parallel);
  } else {
    auto* space =
        reinterpret_cast<T*>(memory.take(std::min(of_a, of_b) * static_cast<int64_t>(sizeof(T))));
    if (of_a <= of_b) p.a = negated(p.a, space);
    else p.b = negated(p.b, space);
    run<T>(p, parallel);
  }
}
#define HILO_INSTANTIATE(T)                                                                     \
  template void subtract_product(MatrixView<T>, MatrixView<const T>, MatrixView<const T>, bool, \
                                 MaybeParallel);
HILO_INSTANTIATE(float)
HILO_INSTANTIATE(double)
HILO_INSTANTIATE(std::complex<float>)
HILO_INSTANTIATE(std::complex<double>)
#undef HILO_INSTANTIATE

}  // namespace hilo

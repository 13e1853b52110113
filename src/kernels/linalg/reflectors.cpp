// QR by Householder reflections, row by row: of matrices with few columns, a reflection is a walk
// over the rows, each a few vectors.
#include <algorithm>
#include <cmath>

#include "base/base.h"
#include "kernels/kernels.h"
#include "kernels/linalg/reflector_kernels.h"
#include "machine/machine.h"

namespace hilo {
namespace {

#define HILO_KERNELS "kernels/linalg/reflector_kernels.def"
#include "kernels/each_processor.def"

template <class T>
RowsOfVectors<T> pack(const T* from, int64_t rows, int64_t columns, T* space) {
  reflector_kernels<T>().pack(from, rows, columns, space);
  return {space, rows, reflection_space<T>(1, columns)};
}

template <class T>
RowsOfVectors<T> from_row(const RowsOfVectors<T>& c, int64_t row) {
  return {c.data + row * c.row_size, c.rows - row, c.row_size};
}

// A column of a, from its first row on.
template <class T>
struct Column {
  const RowsOfVectors<T>& a;
  int64_t place;

  T& operator[](int64_t i) const { return a.data[i * a.row_size + place]; }
  // The sum of the squares below the first row.
  T squares() const {
    T sums[4] = {};
    const T* below = a.data + place;
    int64_t i = 1;
    for (; i + 4 <= a.rows; i += 4)
      for (int64_t n = 0; n < 4; ++n)
        sums[n] += below[(i + n) * a.row_size] * below[(i + n) * a.row_size];
    for (; i < a.rows; ++i) sums[0] += below[i * a.row_size] * below[i * a.row_size];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
  void divide(T unit) const {
    for (int64_t i = 0; i < a.rows; ++i) (*this)[i] /= unit;
  }
  T largest() const {
    T out = 0;
    for (int64_t i = 0; i < a.rows; ++i) out = std::max(out, std::abs((*this)[i]));
    return out;
  }
};

// The reflection that brings a column to (beta, 0, ...): v takes the place of what is below its
// first row, beta that of the first. Gives the scale, as LAPACK's larfg. Where squares would
// overflow or lose bits, they are those of parts of the largest element.
template <class T>
T make_reflection(const Column<T>& column) {
  constexpr T least = std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon();
  T unit = 1, squares = column.squares();
  if (!(squares >= least && squares + column[0] * column[0] <= std::numeric_limits<T>::max())) {
    const T largest = column.largest();
    if (largest == 0) return 0;
    unit = largest;
    column.divide(unit);
    squares = column.squares();
  }
  const T top = column[0], beta = -std::copysign(std::sqrt(top * top + squares), top);
  column[0] = (squares == 0 ? top : beta) * unit;
  if (squares == 0) return 0;
  const T factor = 1 / (top - beta);
  for (int64_t i = 1; i < column.a.rows; ++i) column[i] *= factor;
  return (beta - top) / beta;
}

}  // namespace

template <class T>
int64_t reflection_space(int64_t rows, int64_t columns) {
  const int64_t lanes = reflector_kernels<T>().lanes;
  return rows * ((columns + lanes - 1) / lanes * lanes);
}

// Reflection j walks over rows and columns from j on: half of them have been passed on average.
template <class T>
bool are_reflections_near(int64_t rows, int64_t columns) {
  const int64_t passed = std::min(rows, columns) / 2;
  const double bytes = static_cast<double>(rows - passed) *
                       static_cast<double>(reflection_space<T>(1, columns) - passed) * sizeof(T);
  return bytes <= static_cast<double>(find_cpu("native").cores.caches[0].bytes);
}

template <class T>
void factor_qr(int64_t rows, int64_t columns, T* a, T* scales, T* space) {
  const RowsOfVectors<T> lines = pack(a, rows, columns, space);
  for (int64_t j = 0; j < std::min(rows, columns); ++j) {
    const RowsOfVectors<T> left = from_row(lines, j);
    scales[j] = make_reflection(Column<T>{left, j});
    reflector_kernels<T>().reflect(left.data + j, left.row_size, scales[j], left, j + 1);
  }
  reflector_kernels<T>().unpack(lines.data, rows, columns, a);
}

template <class T>
void Reflections<T>::multiply(bool is_transposed, int64_t columns, T* c, T* space) const {
  const RowsOfVectors<T> lines = pack(c, rows, columns, space);
  for (int64_t n = 0; n < count; ++n) {
    const int64_t j = is_transposed ? n : count - 1 - n;
    reflector_kernels<T>().reflect(vectors + j * (step + 1), step, scales[j], from_row(lines, j),
                                   0);
  }
  reflector_kernels<T>().unpack(lines.data, rows, columns, c);
}

template <class T>
void Reflections<T>::join(int64_t columns, T* q, T* space) const {
  const RowsOfVectors<T> lines{space, rows, reflection_space<T>(1, columns)};
  std::fill_n(space, rows * lines.row_size, T(0));
  for (int64_t j = 0; j < columns; ++j) space[j * lines.row_size + j] = 1;
  for (int64_t j = count - 1; j >= 0; --j)
    reflector_kernels<T>().reflect(vectors + j * (step + 1), step, scales[j], from_row(lines, j),
                                   j);
  reflector_kernels<T>().unpack(lines.data, rows, columns, q);
}

template <class T>
const ReflectorKernels<T>& reflector_kernels() {
  static const ReflectorKernels<T>& kernels = best_kernels<T>();
  return kernels;
}

#define HILO_INSTANTIATE(T)                                \
  template const ReflectorKernels<T>& reflector_kernels(); \
  template int64_t reflection_space<T>(int64_t, int64_t);  \
  template bool are_reflections_near<T>(int64_t, int64_t); \
  template void factor_qr(int64_t, int64_t, T*, T*, T*);   \
  template struct Reflections<T>;
HILO_INSTANTIATE(float)
HILO_INSTANTIATE(double)
#undef HILO_INSTANTIATE

}  // namespace hilo

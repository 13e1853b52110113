// Linear algebra of one matrix, for custom calls that have matrices of a batch one by one. Seen
// through the front door.
#pragma once

#include <complex>
#include <string>

#include "shape/shape.h"

namespace hilo {

class Parallel;  // kernels.h
// Who works on one matrix; null: the calling thread. The bits do not depend on it, but on which of
// the two.
using MaybeParallel = const Parallel*;

// Element (i, j) stands at data[i * row_step + j * column_step]; steps may be negative.
template <class T>
struct MatrixView {
  T* data;
  int64_t rows, columns, row_step, column_step;

  T& operator()(int64_t i, int64_t j) const { return data[i * row_step + j * column_step]; }
  MatrixView block(int64_t i, int64_t j, int64_t of_rows, int64_t of_columns) const {
    return {data + i * row_step + j * column_step, of_rows, of_columns, row_step, column_step};
  }
  MatrixView transposed() const { return {data, columns, rows, column_step, row_step}; }
  // The last row first, and the last column.
  MatrixView rows_reversed() const {
    return {data + (rows - 1) * row_step, rows, columns, -row_step, column_step};
  }
  MatrixView columns_reversed() const { return transposed().rows_reversed().transposed(); }
};
template <class T>
MatrixView<T> dense(T* data, int64_t rows, int64_t columns) {
  return {data, rows, columns, columns, 1};
}

template <class T>
struct RealPart {
  using type = T;
};
template <class T>
struct RealPart<std::complex<T>> {
  using type = T;
};
template <class T>
using RealPartOf = typename RealPart<T>::type;
template <class T>
constexpr bool has_imaginary_part = !std::is_same_v<T, RealPartOf<T>>;

template <class T>
T conjugate_if(bool wanted, T value) {
  if constexpr (has_imaginary_part<T>) return wanted ? std::conj(value) : value;
  else return value;
}

// L of A = L L*, from the lower triangle of a Hermitian matrix; the upper one is not read,
// and holds nothing of use afterwards. Gives the place of the first pivot that is not positive,
// where it ends, or else the number of rows.
template <class T>
int64_t factor_cholesky(MatrixView<T> a, MaybeParallel parallel);

// Rows and columns up to which a call of LAPACK takes longer.
template <class T>
int max_small_lu();
// P A = L U in place, of up to max_small_lu<T>() rows and columns that lie one after the other,
// column by column, as LAPACK's getrf gives it: the pivot is the first of the largest of what is
// left of a column, by |re| + |im|; pivots[j], from 1 on, is the row that changed places with row
// j, and the result is 0 or the number, from 1 on, of the first pivot that is 0.
template <class T>
int factor_lu(int64_t rows, int64_t columns, T* a, int* pivots);

// QR as LAPACK's geqrf gives it, by Householder reflections of float or double matrices, row-major:
// Q = H_0 H_1 ..., H_j = 1 - scales[j] v v', where v is 0 above row j, 1 there, and below it stands
// in column j under R. `space`, aligned to 64 bytes, has reflection_space(rows, columns) numbers.
template <class T>
int64_t reflection_space(int64_t rows, int64_t columns);
template <class T>
void factor_qr(int64_t rows, int64_t columns, T* a, T* scales, T* space);
// Reflections whose vectors have `rows` rows, `step` apart.
template <class T>
struct Reflections {
  int64_t rows, count, step;
  const T *vectors, *scales;

  // c = Q c, or Q' c; c has `rows` rows and needs reflection_space(rows, columns).
  void multiply(bool is_transposed, int64_t columns, T* c, T* space) const;
  // The first columns of Q, count <= columns <= rows.
  void join(int64_t columns, T* q, T* space) const;
};
// Whether what a reflection of such a matrix walks over lies in the nearest cache: then LAPACK,
// which goes by columns and has blocks of reflections, takes longer.
template <class T>
bool are_reflections_near(int64_t rows, int64_t columns);

// op(A) X = B, or X op(A) = B where A does not stand on the left; row-major. The other triangle of
// A is not read.
struct TriangularSystem {
  int64_t rows, columns;  // of X
  bool on_left = true, is_lower = true, is_transposed = false, is_conjugated = false,
       has_units = false;

  int64_t order() const { return on_left ? rows : columns; }
  // Multiplications, about.
  int64_t work() const { return order() * rows * columns; }
  // x is B and becomes X.
  template <class T>
  void solve(const T* a, T* x, MaybeParallel parallel) const;
};

// Systems of a batch one after the other, each on all threads, or each on one; by the sizes alone.
bool is_alone(int64_t batches, int64_t work);

// LAPACK (netlib.org/lapack), opened when a module first needs it, and matrices as it wants them:
// column by column. The address of a routine such as `dgetrf_`; null where the library or the
// routine is missing.
void* lapack_symbol(const std::string& name);

template <class T>
struct LapackType {
  using Real = RealPartOf<T>;
  static constexpr bool is_complex = has_imaginary_part<T>;
  static constexpr bool is_double = std::is_same_v<Real, double>;
  static constexpr char prefix = is_complex ? (is_double ? 'z' : 'c') : (is_double ? 'd' : 's');
};

// A routine over T; all arguments go by address.
template <class T>
class Lapack {
 public:
  explicit Lapack(const std::string& real, const std::string& complex = "")
      : symbol_(lapack_symbol(LapackType<T>::prefix +
                              (LapackType<T>::is_complex && !complex.empty() ? complex : real) +
                              "_")) {}
  explicit operator bool() const { return symbol_ != nullptr; }
  template <class... Args>
  void operator()(Args*... arguments) const {
    reinterpret_cast<void (*)(Args*...)>(symbol_)(arguments...);
  }

 private:
  void* symbol_;
};

// The last two dimensions of an array of matrices.
struct MatrixSizes {
  int rows = 0, columns = 0;
  int64_t batches = 0;
  int64_t area() const { return int64_t{rows} * columns; }
};
MatrixSizes matrix_sizes(const Dims& dims);

// to[c * rows + r] = from[r * columns + c]: a row-major matrix as LAPACK wants it, and back where
// rows and columns are exchanged.
template <class T>
void transpose(const T* from, int64_t rows, int64_t columns, T* to) {
  constexpr int64_t tile = 16;
  for (int64_t first = 0; first < rows; first += tile)
    for (int64_t c = 0; c < columns; ++c)
      for (int64_t r = first; r < std::min(rows, first + tile); ++r)
        to[c * rows + r] = from[r * columns + c];
}

}  // namespace hilo

// Parts of matrices in place, and products that are subtracted from them. Private to `eval`.
#pragma once

#include <complex>
#include <utility>

#include "eval/eval.h"

namespace hilo {

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

// Where a factorisation does its work. The bits do not depend on it, but on which of the two.
// Null: the calling thread does all.
using MaybeParallel = const Parallel*;

// c -= a b, or with the complex conjugate of b. The rows of c or its columns are side by side.
template <class T>
void subtract_product(MatrixView<T> c, MatrixView<const T> a, MatrixView<const T> b,
                      bool conjugates, MaybeParallel parallel);

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

}  // namespace hilo

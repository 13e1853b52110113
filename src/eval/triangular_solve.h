// Systems of triangular matrices by substitution. Private to `eval`.
#pragma once

#include <complex>
#include <cstdint>

namespace hilo {

// op(A) X = B, or X op(A) = B where A does not stand on the left; row-major. The other triangle of
// A is not read, nor is its diagonal where that is units.
template <class T>
struct TriangularSystem {
  // Multiplications up to which this is as fast as a library's blocks.
  static constexpr int64_t small = 1 << 12;
  int64_t rows, columns;  // of X
  bool on_left = true, is_lower = true, is_transposed = false, is_conjugated = false,
       has_units = false;

  int64_t order() const { return on_left ? rows : columns; }
  // x is B and becomes X.
  void solve(const T* a, T* x) const {
    const bool forward = (is_lower != is_transposed) == on_left;
    for (int64_t step = 0; step < order(); ++step) {
      const int64_t i = forward ? step : order() - 1 - step;
      if (!has_units) scale(x, i, element(a, i, i));
      const int64_t begin = forward ? i + 1 : 0, end = forward ? order() : i;
      for (int64_t j = begin; j < end; ++j)
        subtract(x, i, j, on_left ? element(a, j, i) : element(a, i, j));
    }
  }

 private:
  T element(const T* a, int64_t i, int64_t j) const {
    const T value = is_transposed ? a[j * order() + i] : a[i * order() + j];
    if constexpr (requires { value.real(); }) return is_conjugated ? std::conj(value) : value;
    else return value;
  }
  int64_t lines() const { return on_left ? columns : rows; }
  // Line i of unknowns is a row of X, or a column.
  int64_t place(int64_t i, int64_t line) const {
    return on_left ? i * columns + line : line * columns + i;
  }
  void scale(T* x, int64_t i, T by) const {
    for (int64_t line = 0; line < lines(); ++line) x[place(i, line)] /= by;
  }
  void subtract(T* x, int64_t from, int64_t to, T factor) const {
    for (int64_t line = 0; line < lines(); ++line)
      x[place(to, line)] -= factor * x[place(from, line)];
  }
};

}  // namespace hilo

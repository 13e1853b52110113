// LAPACK (netlib.org/lapack), opened when a module first needs it, and matrices as it wants them:
// column by column. Private to `eval`.
#pragma once

#include "eval/call.h"

namespace hilo {

// The address of a routine such as `dgetrf_`; null where the library or the routine is missing.
void* lapack_symbol(const std::string& name);

template <class T>
struct LapackType;
template <>
struct LapackType<float> {
  static constexpr char prefix = 's';
  static constexpr bool is_complex = false;
  using Real = float;
};
template <>
struct LapackType<double> {
  static constexpr char prefix = 'd';
  static constexpr bool is_complex = false;
  using Real = double;
};
template <>
struct LapackType<std::complex<float>> {
  static constexpr char prefix = 'c';
  static constexpr bool is_complex = true;
  using Real = float;
};
template <>
struct LapackType<std::complex<double>> {
  static constexpr char prefix = 'z';
  static constexpr bool is_complex = true;
  using Real = double;
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

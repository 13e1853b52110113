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
MatrixSizes matrix_sizes(const Literal& literal);

template <class T>
std::vector<T> columns_of(const Literal& literal, int64_t batch) {
  const MatrixSizes sizes = matrix_sizes(literal);
  const T* from = literal.data<T>().data() + batch * sizes.area();
  std::vector<T> out(sizes.area());
  for (int64_t r = 0; r < sizes.rows; ++r)
    for (int64_t c = 0; c < sizes.columns; ++c)
      out[c * sizes.rows + r] = from[r * sizes.columns + c];
  return out;
}

template <class T>
void put_columns(const std::vector<T>& columns, Literal& literal, int64_t batch) {
  const MatrixSizes sizes = matrix_sizes(literal);
  T* to = literal.mutable_data<T>().data() + batch * sizes.area();
  for (int64_t r = 0; r < sizes.rows; ++r)
    for (int64_t c = 0; c < sizes.columns; ++c)
      to[r * sizes.columns + c] = columns[c * sizes.rows + r];
}

// Row `batch` of an array of vectors.
template <class T>
T* vector_of(Literal& literal, int64_t batch, int64_t batches) {
  return literal.mutable_data<T>().data() + (batches > 0 ? batch * (literal.count() / batches) : 0);
}

}  // namespace hilo

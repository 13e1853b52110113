// The inner loop of Householder reflections in float and double, T, for the processor that runs it.
// Private to `kernels`.
#pragma once

#include <cstdint>

namespace hilo {

// Some rows below one another, each of whole vectors.
template <class T>
struct RowsOfVectors {
  T* data;  // aligned as a vector
  int64_t rows, row_size;
};

template <class T>
struct ReflectorKernels {
  int64_t lanes;  // elements of a vector
  // Rows that lie one after the other, as rows of whole vectors, zeros at their ends; and back.
  void (*pack)(const T* from, int64_t rows, int64_t columns, T* lines);
  void (*unpack)(const T* lines, int64_t rows, int64_t columns, T* to);
  // c -= scale v (v' c) for the columns of c from `first` on; v is 1 in its first row and
  // v[i * v_step] in row i.
  void (*reflect)(const T* v, int64_t v_step, T scale, const RowsOfVectors<T>& c, int64_t first);
};

template <class T>
const ReflectorKernels<T>& reflector_kernels();

}  // namespace hilo

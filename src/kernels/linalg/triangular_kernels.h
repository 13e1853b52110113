// The inner loops of triangular systems, Cholesky factors and LU in float and double, T, for the
// processor that runs them. Private to `kernels`.
#pragma once

#include <cstdint>

namespace hilo {

// Rows and columns of a triangle that is solved in registers; its rows stand so far apart.
constexpr int64_t triangle_side = 64;

// Lower triangles of `n` rows. Lines are right sides side by side: element i of line l stands at
// x[i * lines + l], aligned as a vector. The other triangle is not read, nor is a diagonal of
// units.
template <class T>
struct TriangularKernels {
  int64_t wide, narrow;  // lines that are solved at once
  void (*solve_wide)(const T* a, int64_t n, bool has_units, T* x);
  void (*solve_narrow)(const T* a, int64_t n, bool has_units, T* x);
  // Complex numbers: real and imaginary part of each element of a in turn, `narrow` lines of real
  // parts and then of imaginary parts in each row of x. The diagonal holds its inverse.
  void (*solve_complex)(const T* a, int64_t n, bool has_units, T* x);
  // The upper factor U of a symmetric matrix, A = U* U, in place, from the upper triangle, aligned
  // as a vector; rows go on to the end of a vector. Gives the place of the first pivot that is not
  // positive, where it ends, or else n.
  int64_t (*factor)(T* a, int64_t n);
  int64_t (*factor_complex)(T* re, T* im, int64_t n);
  // P A = L U of up to triangle_side rows and columns in place: see factor_lu.h. Rows are
  // whole vectors, of `narrow` elements each.
  int (*factor_lu)(int64_t rows, int64_t columns, T* a, int* pivots);
};

template <class T>
const TriangularKernels<T>& triangular_kernels();

}  // namespace hilo

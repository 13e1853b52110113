#include <cmath>
#include <cstring>

#include "kernels/linalg/triangular_kernels.h"
#include "kernels/linalg/triangular_solve.h"
#include "kernels/sharing.h"

namespace hilo {
namespace {

// Multiplications up to which blocks and vectors cost more than they save.
constexpr int64_t few = 512;
constexpr int64_t max_lines = 64;  // of a tile

// A tile of x: `lanes` of its columns side by side, zeros where there are fewer.
template <class T>
struct Tile {
  MatrixView<T> x;
  int64_t lanes;

  // body(element of x, i, lane) in the order of memory.
  template <class Body>
  void visit(Body body) const {
    if (x.column_step == 1) {
      for (int64_t i = 0; i < x.rows; ++i)
        for (int64_t lane = 0; lane < x.columns; ++lane) body(x(i, lane), i, lane);
    } else {
      for (int64_t lane = 0; lane < x.columns; ++lane)
        for (int64_t i = 0; i < x.rows; ++i) body(x(i, lane), i, lane);
    }
  }
};

template <class T>
void solve_tile(const T* a, bool has_units, const Tile<T>& tile) {
  alignas(64) T lines[triangle_side * max_lines];
  const TriangularKernels<T>& kernels = triangular_kernels<T>();
  if (tile.x.columns < tile.lanes)
    std::memset(lines, 0, static_cast<size_t>(tile.x.rows * tile.lanes) * sizeof(T));
  tile.visit([&](T& x, int64_t i, int64_t lane) { lines[i * tile.lanes + lane] = x; });
  const auto solve = tile.lanes == kernels.wide ? kernels.solve_wide : kernels.solve_narrow;
  solve(a, tile.x.rows, has_units, lines);
  tile.visit([&](T& x, int64_t i, int64_t lane) { x = lines[i * tile.lanes + lane]; });
}

template <class Real>
void solve_tile(const std::complex<Real>* a, bool has_units, const Tile<std::complex<Real>>& tile) {
  alignas(64) Real lines[triangle_side * 2 * max_lines];
  const auto at = [&](int64_t i, int64_t lane) { return lines + 2 * i * tile.lanes + lane; };
  if (tile.x.columns < tile.lanes)
    std::memset(lines, 0, static_cast<size_t>(2 * tile.x.rows * tile.lanes) * sizeof(Real));
  tile.visit([&](std::complex<Real>& x, int64_t i, int64_t lane) {
    at(i, lane)[0] = x.real(), at(i, lane)[tile.lanes] = x.imag();
  });
  triangular_kernels<Real>().solve_complex(reinterpret_cast<const Real*>(a), tile.x.rows, has_units,
                                           lines);
  tile.visit([&](std::complex<Real>& x, int64_t i, int64_t lane) {
    x = {at(i, lane)[0], at(i, lane)[tile.lanes]};
  });
}

template <class T>
void solve_block(const Triangle<T>& triangle, MatrixView<T> x, MaybeParallel parallel) {
  const TriangularKernels<RealPartOf<T>>& kernels = triangular_kernels<RealPartOf<T>>();
  alignas(64) T a[triangle_side * triangle_side];
  for (int64_t i = 0; i < x.rows; ++i) {
    for (int64_t j = 0; j < i + !triangle.has_units; ++j) a[i * triangle_side + j] = triangle(i, j);
    if constexpr (has_imaginary_part<T>)
      if (!triangle.has_units) a[i * triangle_side + i] = T(1) / a[i * triangle_side + i];
  }
  const bool is_wide = !has_imaginary_part<T> && x.columns > kernels.narrow;
  const int64_t lanes = is_wide ? kernels.wide : kernels.narrow;
  const auto solve_tiles = [&](int64_t begin, int64_t end) {
    for (int64_t tile = begin; tile < end; ++tile) {
      const int64_t first = tile * lanes, count = std::min(lanes, x.columns - first);
      solve_tile(a, triangle.has_units, Tile<T>{x.block(0, first, x.rows, count), lanes});
    }
  };
  const int64_t tiles = (x.columns + lanes - 1) / lanes;
  if (parallel && tiles > 4) (*parallel)(tiles, 4, solve_tiles);
  else solve_tiles(0, tiles);
}

// Without blocks, element by element.
template <class T>
void solve_few(const Triangle<T>& triangle, MatrixView<T> x) {
  for (int64_t i = 0; i < x.rows; ++i) {
    if (!triangle.has_units)
      for (int64_t line = 0; line < x.columns; ++line) x(i, line) /= triangle(i, i);
    for (int64_t j = i + 1; j < x.rows; ++j) {
      const T factor = triangle(j, i);
      for (int64_t line = 0; line < x.columns; ++line) x(j, line) -= factor * x(i, line);
    }
  }
}

}  // namespace

template <class T>
void solve_triangle(const Triangle<T>& triangle, MatrixView<T> x, MaybeParallel parallel) {
  const int64_t n = x.rows;
  if (n * n * x.columns <= few) return solve_few(triangle, x);
  if (n <= triangle_side) return solve_block(triangle, x, parallel);
  const int64_t half = (n / 2 + triangle_side - 1) / triangle_side * triangle_side, rest = n - half;
  const MatrixView<T> first = x.block(0, 0, half, x.columns),
                      second = x.block(half, 0, rest, x.columns);
  solve_triangle(triangle.block(0, 0, half, half), first, parallel);
  const MatrixView<const T> known{first.data, half, x.columns, first.row_step, first.column_step};
  // b is what subtract_product() conjugates: the transpose of (c -= a b) is (c' -= b' a').
  subtract_product<T>(second.transposed(), known.transposed(),
                      triangle.a.block(half, 0, rest, half).transposed(), triangle.is_conjugated,
                      parallel);
  solve_triangle(triangle.block(half, half, rest, rest), second, parallel);
}

template <class T>
void TriangularSystem::solve(const T* a, T* x, MaybeParallel parallel) const {
  MatrixView<const T> matrix{a, order(), order(), order(), 1};
  MatrixView<T> unknown = dense(x, rows, columns);
  const bool solves_transposed = is_transposed == on_left;
  if (solves_transposed) matrix = matrix.transposed();
  if (!on_left) unknown = unknown.transposed();
  if (is_lower == solves_transposed)
    matrix = matrix.rows_reversed().columns_reversed(), unknown = unknown.rows_reversed();
  solve_triangle(Triangle<T>{matrix, is_conjugated, has_units}, unknown, parallel);
}

// Work by blocks of a triangle's side: each is solved, and its product with what is below is taken
// from what is left.
bool is_alone(int64_t batches, int64_t work) {
  const Cores& here = find_cpu("native").cores;
  const auto multiplications = static_cast<double>(work);
  const double blocks = std::ceil(std::cbrt(multiplications) / triangle_side);
  const PiecesOfWork one{1, multiplications / here.multiply_adds.f32,
                         2 * static_cast<int64_t>(blocks)};
  return batches < 8 && are_shared(one, 2, here);
}

#define HILO_INSTANTIATE(T)                                                       \
  template void solve_triangle(const Triangle<T>&, MatrixView<T>, MaybeParallel); \
  template void TriangularSystem::solve(const T*, T*, MaybeParallel) const;
HILO_INSTANTIATE(float)
HILO_INSTANTIATE(double)
HILO_INSTANTIATE(std::complex<float>)
HILO_INSTANTIATE(std::complex<double>)
#undef HILO_INSTANTIATE

}  // namespace hilo

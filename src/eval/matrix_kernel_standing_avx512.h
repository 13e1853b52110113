// Products of rows of the left operand where they stand, each in one piece, with packed columns.
// Private to `eval`; only where x86-64 is compiled for.
#pragma once

#include "eval/matrix_kernel_avx512.h"

namespace hilo {

// So many rows stay in the first cache, but for those whose lines share few places of it, being a
// large power of two apart: of these fewer.
constexpr int64_t standing_rows = 12, colliding_rows = 6, colliding_step = 2048;

// Rows by threes: three addresses of one register and a step.
template <class Real, int rows>
struct StandingRows {
  static constexpr int count = (rows + 2) / 3;
  const std::byte* first[count];
  int64_t step;  // bytes

  StandingRows(const void* a, int64_t row_step)
      : step(row_step * static_cast<int64_t>(sizeof(Real))) {
#pragma GCC unroll 8
    for (int i = 0; i < count; ++i) first[i] = static_cast<const std::byte*>(a) + 3 * i * step;
  }
  const std::byte* at(int r, int64_t t) const {
    return first[r / 3] + r % 3 * step + t * static_cast<int64_t>(sizeof(Real));
  }
};

template <class N, int rows, int vectors>
HILO_AVX512 void run_standing_block(const KernelBlock& p, int64_t step) {
  using Real = typename N::Real;
  constexpr int64_t line = cache_line / sizeof(Real), far = 16 * line;
  const int64_t ahead = p.k > far ? far : rows * step;  // of short rows those of the next block
  const StandingRows<Real, rows> a(p.a, step);
  typename N::Vector sums[rows][vectors];
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) sums[r][v] = N::zero();
  const auto* b = static_cast<const Real*>(p.b);
  for (int64_t begin = 0; begin < p.k; begin += line) {
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) __builtin_prefetch(a.at(r, begin + ahead));
    const int64_t end = std::min(begin + line, p.k);
    for (int64_t t = begin; t < end; ++t, b += N::strip) {
      typename N::Vector right[vectors];
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v) right[v] = N::load(b + v * N::lanes);
#pragma GCC unroll 16
      for (int r = 0; r < rows; ++r) {
        typename N::Vector left = N::splat(*reinterpret_cast<const Real*>(a.at(r, t)));
        asm("" : "+v"(left));  // a register: else each vector's product reads it again
#pragma GCC unroll 2
        for (int v = 0; v < vectors; ++v) sums[r][v] = N::multiply_add(left, right[v], sums[r][v]);
      }
    }
  }
  store_sums<N>(p, sums);
}
template <class N, size_t... i>
void run_standing_rows(const KernelBlock& p, int64_t step, std::index_sequence<i...>) {
  constexpr std::array functions = {run_standing_block<N, i / 2 + 1, i % 2 + 1>...};
  functions[static_cast<size_t>((p.rows - 1) * 2 + (p.columns > N::lanes))](p, step);
}
template <class N>
void run_standing(const KernelBlock& p, int64_t step) {
  using Real = typename N::Real;
  constexpr auto all = std::make_index_sequence<2 * standing_rows>();
  const bool collide = step * static_cast<int64_t>(sizeof(Real)) % colliding_step == 0;
  if (!collide || p.rows <= colliding_rows) return run_standing_rows<N>(p, step, all);
  KernelBlock part = p;
  part.rows = p.rows / 2;
  run_standing_rows<N>(part, step, all);
  part.a = static_cast<const Real*>(p.a) + part.rows * step;
  part.c = static_cast<Real*>(p.c) + part.rows * p.leading;
  part.rows = p.rows - part.rows;
  run_standing_rows<N>(part, step, all);
}

// Half a vector of columns leaves half of the lanes empty above.
template <class N>
constexpr int64_t dot_columns = N::lanes / 2;

// out[(t / lanes * columns + j) * lanes + t % lanes] = element (j, t) of a packed strip.
template <class N>
void pack_dots(const void* strip, int64_t k, int64_t columns, void* out) {
  using Real = typename N::Real;
  const auto* from = static_cast<const Real*>(strip);
  auto* to = static_cast<Real*>(out);
  for (int64_t t = 0; t < k; t += N::lanes)
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t lane = 0; lane < N::lanes; ++lane, ++to)
        *to = t + lane < k ? from[(t + lane) * N::strip + j] : Real(0);
}

template <class N, int rows, int columns>
HILO_AVX512 void run_dots_block(const KernelBlock& p, int64_t i, int64_t step) {
  using Real = typename N::Real;
  constexpr int64_t far = 16 * cache_line / sizeof(Real);
  const StandingRows<Real, rows> a(static_cast<const Real*>(p.a) + i * step, step);
  typename N::Vector sums[rows][columns];
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 8
    for (int j = 0; j < columns; ++j) sums[r][j] = N::zero();
  const auto* b = static_cast<const Real*>(p.b);
  for (int64_t t = 0; t < p.k; t += N::lanes) {
    const auto mask = first<N>(p.k - t);
    typename N::Vector left[rows];
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
      left[r] = N::load(mask, reinterpret_cast<const Real*>(a.at(r, t)));
      __builtin_prefetch(a.at(r, t + far));
    }
#pragma GCC unroll 8
    for (int j = 0; j < columns; ++j, b += N::lanes) {
      const typename N::Vector right = N::load(b);
#pragma GCC unroll 8
      for (int r = 0; r < rows; ++r) sums[r][j] = N::multiply_add(left[r], right, sums[r][j]);
    }
  }
  auto* c = static_cast<Real*>(p.c) + i * p.leading;
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r, c += p.leading)
#pragma GCC unroll 8
    for (int j = 0; j < columns; ++j) c[j] = N::total(sums[r][j]) + (p.add ? c[j] : Real(0));
}
template <class N, int columns>
void run_dots_columns(const KernelBlock& p, int64_t step) {
  constexpr int rows = columns <= 2 ? 8 : columns <= 4 ? 6 : 3;
  int64_t i = 0;
  for (; i + rows <= p.rows; i += rows) run_dots_block<N, rows, columns>(p, i, step);
  for (; i < p.rows; ++i) run_dots_block<N, 1, columns>(p, i, step);
}
template <class N, size_t... i>
void run_dots_any(const KernelBlock& p, int64_t step, std::index_sequence<i...>) {
  constexpr std::array functions = {run_dots_columns<N, i + 1>...};
  functions[static_cast<size_t>(p.columns - 1)](p, step);
}
template <class N>
void run_dots(const KernelBlock& p, int64_t step) {
  run_dots_any<N>(p, step, std::make_index_sequence<dot_columns<N>>());
}

}  // namespace hilo

// Blocks of 14 rows times two vectors stay in registers of AVX-512 while a depth of both operands
// streams by them from packed copies: rows from the second cache, a strip of columns from the first
// (Goto and van de Geijn, "Anatomy of high-performance matrix multiplication", TOMS 2008). Private
// to `eval`; only where x86-64 is compiled for.
#pragma once

#ifndef __clang__  // GCC 12 warns of values that its own header leaves undefined on purpose
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

#include <algorithm>
#include <array>
#include <utility>

#include "eval/matrix_kernel.h"

#define HILO_AVX512 [[gnu::target("avx512f,avx512bw,avx512vl,avx512dq,fma")]]

namespace hilo {

inline bool has_avx512() {
  static const bool found =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  return found;
}

constexpr int64_t kernel_rows = 14, row_step = 16;

// Vectors of the type that is summed in.
struct Floats {
  using Real = float;
  using Vector = __m512;
  using Mask = __mmask16;
  static constexpr int64_t lanes = 16, strip = 2 * lanes, head = 0;
  HILO_AVX512 static Vector zero() { return _mm512_setzero_ps(); }
  HILO_AVX512 static Vector splat(Real x) { return _mm512_set1_ps(x); }
  HILO_AVX512 static Vector add(Vector a, Vector b) { return _mm512_add_ps(a, b); }
  HILO_AVX512 static Vector multiply_add(Vector a, Vector b, Vector c) {
    return _mm512_fmadd_ps(a, b, c);
  }
  HILO_AVX512 static Real total(Vector x) { return _mm512_reduce_add_ps(x); }
  HILO_AVX512 static Vector load(const Real* from) { return _mm512_load_ps(from); }
  HILO_AVX512 static Vector load(Mask mask, const Real* from) {
    return _mm512_maskz_loadu_ps(mask, from);
  }
  HILO_AVX512 static void store(Real* to, Vector x) { _mm512_store_ps(to, x); }
  HILO_AVX512 static void store(Mask mask, Real* to, Vector x) {
    _mm512_mask_storeu_ps(to, mask, x);
  }
};
struct Doubles {
  using Real = double;
  using Vector = __m512d;
  using Mask = __mmask8;
  static constexpr int64_t lanes = 8, strip = 2 * lanes, head = 0;
  HILO_AVX512 static Vector zero() { return _mm512_setzero_pd(); }
  HILO_AVX512 static Vector splat(Real x) { return _mm512_set1_pd(x); }
  HILO_AVX512 static Vector add(Vector a, Vector b) { return _mm512_add_pd(a, b); }
  HILO_AVX512 static Vector multiply_add(Vector a, Vector b, Vector c) {
    return _mm512_fmadd_pd(a, b, c);
  }
  HILO_AVX512 static Real total(Vector x) { return _mm512_reduce_add_pd(x); }
  HILO_AVX512 static Vector load(const Real* from) { return _mm512_load_pd(from); }
  HILO_AVX512 static Vector load(Mask mask, const Real* from) {
    return _mm512_maskz_loadu_pd(mask, from);
  }
  HILO_AVX512 static void store(Real* to, Vector x) { _mm512_store_pd(to, x); }
  HILO_AVX512 static void store(Mask mask, Real* to, Vector x) {
    _mm512_mask_storeu_pd(to, mask, x);
  }
};

// The first n lanes.
template <class N>
typename N::Mask first(int64_t n) {
  return static_cast<typename N::Mask>(n >= N::lanes ? ~0u : (1u << n) - 1);
}

// 16 rows of 16 lanes become 16 columns: pairs, fours, then quarters of vectors change places. By
// a call they would go through memory.
[[gnu::always_inline]] HILO_AVX512 inline void transpose(__m512 (&r)[16]) {
  __m512 t[16];
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
    t[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
  }
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    const int pair = i / 2 * 4 + i % 2;
    const __m512d low = _mm512_castps_pd(t[pair]), high = _mm512_castps_pd(t[pair + 2]);
    r[i / 2 * 4 + i % 2 * 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(low, high));
    r[i / 2 * 4 + i % 2 * 2 + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(low, high));
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    t[i] = _mm512_shuffle_f32x4(r[i], r[i + 4], 0x88);
    t[i + 4] = _mm512_shuffle_f32x4(r[i], r[i + 4], 0xdd);
    t[i + 8] = _mm512_shuffle_f32x4(r[i + 8], r[i + 12], 0x88);
    t[i + 12] = _mm512_shuffle_f32x4(r[i + 8], r[i + 12], 0xdd);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    r[i] = _mm512_shuffle_f32x4(t[i], t[i + 8], 0x88);
    r[i + 8] = _mm512_shuffle_f32x4(t[i], t[i + 8], 0xdd);
    r[i + 4] = _mm512_shuffle_f32x4(t[i + 4], t[i + 12], 0x88);
    r[i + 12] = _mm512_shuffle_f32x4(t[i + 4], t[i + 12], 0xdd);
  }
}

// The same of 8 rows of 8 lanes.
[[gnu::always_inline]] HILO_AVX512 inline void transpose(__m512d (&r)[8]) {
  __m512d t[8];
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) {
    t[i] = _mm512_unpacklo_pd(r[i], r[i + 1]);
    t[i + 1] = _mm512_unpackhi_pd(r[i], r[i + 1]);
  }
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    const __m512d low = _mm512_shuffle_f64x2(t[i], t[i + 2], 0x88),
                  high = _mm512_shuffle_f64x2(t[i + 4], t[i + 6], 0x88),
                  odd_low = _mm512_shuffle_f64x2(t[i], t[i + 2], 0xdd),
                  odd_high = _mm512_shuffle_f64x2(t[i + 4], t[i + 6], 0xdd);
    r[i] = _mm512_shuffle_f64x2(low, high, 0x88);
    r[i + 2] = _mm512_shuffle_f64x2(odd_low, odd_high, 0x88);
    r[i + 4] = _mm512_shuffle_f64x2(low, high, 0xdd);
    r[i + 6] = _mm512_shuffle_f64x2(odd_low, odd_high, 0xdd);
  }
}

// Lines of the right operand: packed, or where they stand.
template <class N>
struct PackedLines {
  using Numbers = N;
  const typename N::Real* b;
  HILO_AVX512 typename N::Vector load(int v, typename N::Mask) const {
    return N::load(b + v * N::lanes);
  }
  HILO_AVX512 void fetch(int v) const { __builtin_prefetch(b + 16 * N::strip + v * N::lanes); }
  void go_on() { b += N::strip; }
};
// The next `count` cache lines of those ahead.
inline void fetch(Ahead& ahead, int64_t count) {
  for (; count > 0; --count) {
    __builtin_prefetch(ahead.line + ahead.at, 0, 2);
    ahead.at += cache_line;
    if (ahead.at >= ahead.length) ahead.at = 0, ahead.line += ahead.step;
  }
}

template <class N, int rows, int vectors>
HILO_AVX512 inline void store_sums(const KernelBlock& p,
                                   typename N::Vector (&sums)[rows][vectors]) {
  const auto all = first<N>(N::lanes), last = first<N>(p.columns - (vectors - 1) * N::lanes);
  const int64_t leading = p.leading;
  const bool add = p.add;
  auto* c = static_cast<typename N::Real*>(p.c);
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r, c += leading) {
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) {
      const auto mask = v + 1 == vectors ? last : all;
      auto* to = c + v * N::lanes;
      if (add) sums[r][v] = N::add(sums[r][v], N::load(mask, to));
      N::store(mask, to, sums[r][v]);
    }
  }
}

// Of the lines of c one after the other is fetched while the sums grow, and of those ahead.
template <class Lines, int rows, int vectors>
HILO_AVX512 void run_block(const KernelBlock& p, Lines from) {
  using N = typename Lines::Numbers;
  using Real = typename N::Real;
  const auto all = first<N>(N::lanes), last = first<N>(p.columns - (vectors - 1) * N::lanes);
  typename N::Vector sums[rows][vectors];
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) sums[r][v] = N::zero();
  const auto* packed = static_cast<const Real*>(p.a);
  if constexpr (N::head > 0) {
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v) sums[r][v] = N::add(N::splat(packed[r]), from.load(v, all));
    packed += row_step;
    from.go_on();
  }
  const Real* a = packed;
  const Real* next = static_cast<Real*>(p.c);
  Ahead ahead = p.ahead;
  for (int64_t part = 0; part < rows; ++part, next += p.leading) {
    fetch(ahead, p.ahead.count * (part + 1) / rows - p.ahead.count * part / rows);
    __builtin_prefetch(next, 1);
    __builtin_prefetch(next + (vectors - 1) * N::lanes, 1);
    for (const Real* end = packed + p.k * (part + 1) / rows * row_step; a != end;
         a += row_step, from.go_on()) {
      typename N::Vector right[vectors];
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v) right[v] = from.load(v, v + 1 == vectors ? last : all);
      __builtin_prefetch(a + 16 * row_step);
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v) from.fetch(v);
#pragma GCC unroll 16
      for (int r = 0; r < rows; ++r) {
        typename N::Vector left = N::splat(a[r]);
        asm("" : "+v"(left));  // a register: else each vector's product reads it again
#pragma GCC unroll 2
        for (int v = 0; v < vectors; ++v) sums[r][v] = N::multiply_add(left, right[v], sums[r][v]);
      }
    }
  }
  store_sums<N>(p, sums);
}

template <class Lines>
using BlockFunction = void (*)(const KernelBlock&, Lines);
template <class Lines, size_t... i>
constexpr std::array<BlockFunction<Lines>, sizeof...(i)> block_functions(
    std::index_sequence<i...>) {
  return {run_block<Lines, i / 2 + 1, i % 2 + 1>...};
}
template <class Lines>
void run_lines(const KernelBlock& p, Lines from) {
  constexpr auto functions = block_functions<Lines>(std::make_index_sequence<2 * kernel_rows>());
  const bool is_wide = p.columns > Lines::Numbers::lanes;
  functions[static_cast<size_t>((p.rows - 1) * 2 + is_wide)](p, from);
}

template <class N>
void run_packed(const KernelBlock& p) {
  run_lines(p, PackedLines<N>{static_cast<const typename N::Real*>(p.b)});
}

}  // namespace hilo

// Blocks of 14 rows times two vectors, or of 9 times three, stay in registers of AVX-512 while a
// depth of both operands streams by them from packed copies: rows from the first cache, a strip of
// columns from the second (Goto and van de Geijn, "Anatomy of high-performance matrix
// multiplication", TOMS 2008). Private to `kernels`; only where x86-64 is compiled for.
#pragma once

#ifndef __clang__  // GCC 12 warns of values that its own header leaves undefined on purpose
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/gemm/matrix_kernel.h"

#define HILO_AVX512 [[gnu::target("avx512f,avx512bw,avx512vl,avx512dq,fma")]]

namespace hilo {

constexpr int vector_registers = 32;
constexpr bool fetches_rows = true;
constexpr int64_t lines_a_round = 1, lines_a_fetch = 1;

// Vectors of the type that is summed in.
struct Floats {
  using Real = float;
  using Vector = __m512;
  using Mask = __mmask16;
  static constexpr int64_t lanes = 16, vectors = 2, strip = vectors * lanes, head = 0;
  static constexpr int64_t rows = rows_of_block(vector_registers, vectors);
  static constexpr int64_t row_step = step_of_rows(rows), max_depth_chunk = any_depth;
  static constexpr int64_t unpacked_rows = 12;
  static constexpr bool fetches_strips = false;
  HILO_AVX512 static Vector zero() { return _mm512_setzero_ps(); }
  HILO_AVX512 static Vector splat(Real x) { return _mm512_set1_ps(x); }
  HILO_AVX512 static Vector add(Vector a, Vector b) { return _mm512_add_ps(a, b); }
  HILO_AVX512 static Vector multiply_add(Vector a, Vector b, Vector c) {
    return _mm512_fmadd_ps(a, b, c);
  }
  HILO_AVX512 static Vector either(Vector a, Vector b) { return _mm512_or_ps(a, b); }
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
  static constexpr int64_t lanes = 8, vectors = 2, strip = vectors * lanes, head = 0;
  static constexpr int64_t rows = rows_of_block(vector_registers, vectors);
  static constexpr int64_t row_step = step_of_rows(rows), max_depth_chunk = any_depth;
  static constexpr int64_t unpacked_rows = Floats::unpacked_rows;
  static constexpr bool fetches_strips = false;
  HILO_AVX512 static Vector zero() { return _mm512_setzero_pd(); }
  HILO_AVX512 static Vector splat(Real x) { return _mm512_set1_pd(x); }
  HILO_AVX512 static Vector add(Vector a, Vector b) { return _mm512_add_pd(a, b); }
  HILO_AVX512 static Vector multiply_add(Vector a, Vector b, Vector c) {
    return _mm512_fmadd_pd(a, b, c);
  }
  HILO_AVX512 static Vector either(Vector a, Vector b) { return _mm512_or_pd(a, b); }
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

// The same in blocks of 9 rows times three vectors, which are read less often: 12 loads a line for
// 27 products, not 16 for 28. A depth of rows takes 27 KB, and strips of three vectors half as much
// again of the second cache: for processors whose first cache has 48 KB.
template <class N>
struct Wide : N {
  static constexpr int64_t vectors = 3, strip = vectors * N::lanes;
  static constexpr int64_t rows = rows_of_block(vector_registers, vectors);
  static constexpr int64_t row_step = rows, unpacked_rows = rows;
  static constexpr int64_t max_depth_chunk = 8;
  static constexpr bool fetches_strips = true;
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

#define HILO_TARGET HILO_AVX512
#include "kernels/gemm/matrix_blocks.def"
#undef HILO_TARGET

}  // namespace hilo

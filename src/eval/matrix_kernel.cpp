// Blocks of 14 rows times 32 columns stay in registers while a depth of both operands streams by
// them from packed copies: rows from the second cache, a strip of columns from the first (Goto and
// van de Geijn, "Anatomy of high-performance matrix multiplication", TOMS 2008).
#include "eval/matrix_kernel.h"

#if defined(__x86_64__) && !defined(__SANITIZE_MEMORY__)
#ifndef __clang__  // GCC 12 warns of values that its own header leaves undefined on purpose
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

#include <algorithm>
#include <array>
#include <utility>

#define HILO_AVX512 [[gnu::target("avx512f,avx512bw,avx512vl,avx512dq,fma")]]

namespace hilo {
namespace {

constexpr int64_t lanes = 16, strip = kernel_columns;
static_assert(strip == 2 * lanes && packed_rows == lanes);
using Mask = __mmask16;

Mask first(int64_t n) { return static_cast<Mask>(n >= lanes ? 0xffff : (1 << n) - 1); }

// How lanes of a type become f32.
struct FromF32 {
  using Type = float;
  HILO_AVX512 static __m512 load(Mask mask, const Type* from) {
    return _mm512_maskz_loadu_ps(mask, from);
  }
};
struct FromBF16 {
  using Type = uint16_t;
  HILO_AVX512 static __m512 load(Mask mask, const Type* from) {
    const __m512i words = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, from));
    return _mm512_castsi512_ps(_mm512_slli_epi32(words, 16));
  }
};
struct FromF16 {
  using Type = uint16_t;
  HILO_AVX512 static __m512 load(Mask mask, const Type* from) {
    return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(mask, from));
  }
};
struct FromS8 {
  using Type = int8_t;
  HILO_AVX512 static __m512 load(Mask mask, const Type* from) {
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(mask, from)));
  }
};
struct FromU8 {
  using Type = uint8_t;
  HILO_AVX512 static __m512 load(Mask mask, const Type* from) {
    return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(mask, from)));
  }
};

template <class Body>
void visit_source(ElementType type, Body&& body) {
  if (type == ElementType::F32) return body(FromF32());
  if (type == ElementType::BF16) return body(FromBF16());
  if (type == ElementType::F16) return body(FromF16());
  if (type == ElementType::S8) return body(FromS8());
  body(FromU8());
}

// 16 rows of 16 lanes become 16 columns: pairs, fours, then quarters of vectors change places.
HILO_AVX512 inline void transpose(__m512 (&r)[16]) {
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

// A part of an operand: `count` free indices and k summed ones from `data` on, or from the first
// places of the tables on.
template <class From>
struct Part {
  const typename From::Type* data;
  int64_t outer, inner, count, k;
  const int64_t *outers, *inners;
};

// Where a row or column begins; those that are not there stand at the first one's place.
using Starts = std::array<int64_t, 16>;

// out[t * width + i] for t < k and the first 16 i, element t of each standing t after its start;
// lanes without an element are zero.
template <class From>
HILO_AVX512 void pack_across(const typename From::Type* data, const Starts& starts, int64_t count,
                             int64_t k, float* out, int64_t width) {
  for (int64_t t = 0; t < k; t += lanes) {
    const Mask mask = first(k - t);
    __m512 r[lanes];
#pragma GCC unroll 16
    for (int i = 0; i < lanes; ++i) {
      const auto* from = data + starts[static_cast<size_t>(i)] + t;
      r[i] = From::load(i < count ? mask : Mask(0), from);
      __builtin_prefetch(from + 8 * lanes);
    }
    transpose(r);
    const int64_t rest = k - t;
#pragma GCC unroll 16
    for (int i = 0; i < lanes; ++i)
      if (i < rest) _mm512_store_ps(out + (t + i) * width, r[i]);
  }
}

template <class From>
HILO_AVX512 void pack_along(const Part<From>& p, float* out, int64_t width) {
  const Mask mask = first(p.count);
  for (int64_t t = 0; t < p.k; ++t)
    _mm512_store_ps(out + t * width, From::load(mask, p.data + t * p.inner));
}

template <class From>
HILO_AVX512 void pack_scattered(const typename From::Type* data, const Starts& starts,
                                int64_t count, float* out) {
  typename From::Type gathered[lanes] = {};
  for (int64_t i = 0; i < count; ++i) gathered[i] = data[starts[static_cast<size_t>(i)]];
  _mm512_store_ps(out, From::load(0xffff, gathered));
}

int64_t count_consecutive(const int64_t* positions, int64_t most) {
  int64_t count = 1;
  while (count < most && positions[count] == positions[count - 1] + 1) ++count;
  return count;
}

// Runs of the summed index are turned, shorter ones read element by element.
template <class From>
HILO_AVX512 void pack_table(const Part<From>& p, float* out, int64_t width) {
  constexpr int64_t worth_turning = 4;
  const bool is_along = count_consecutive(p.outers, p.count) == p.count;
  Starts starts;
  starts.fill(p.outers[0]);
  std::copy_n(p.outers, p.count, starts.begin());
  for (int64_t t = 0; t < p.k;) {
    const int64_t run = is_along ? 1 : count_consecutive(p.inners + t, p.k - t);
    const auto* data = p.data + p.inners[t];
    if (is_along) _mm512_store_ps(out + t * width, From::load(first(p.count), data + starts[0]));
    else if (run >= worth_turning)
      pack_across<From>(data, starts, p.count, run, out + t * width, width);
    else
      for (int64_t i = 0; i < run; ++i)
        pack_scattered<From>(data + i, starts, p.count, out + (t + i) * width);
    t += run;
  }
}

template <class From>
void pack(const Part<From>& p, float* out, int64_t width) {
  if (p.outers) return pack_table(p, out, width);
  if (p.outer == 1 || p.count == 1) return pack_along(p, out, width);
  Starts starts = {};
  for (int64_t i = 0; i < p.count; ++i) starts[static_cast<size_t>(i)] = i * p.outer;
  if (p.inner == 1) return pack_across<From>(p.data, starts, p.count, p.k, out, width);
  for (int64_t t = 0; t < p.k; ++t)
    pack_scattered<From>(p.data + t * p.inner, starts, p.count, out + t * width);
}

template <class From>
Part<From> part_of(const SourcePart& p) {
  const MatrixSource& s = p.source;
  const auto* data = static_cast<const typename From::Type*>(s.data);
  return {data + p.i * s.outer + p.t * s.inner,
          s.outer,
          s.inner,
          p.count,
          p.k,
          s.outers ? s.outers + p.i : nullptr,
          s.inners ? s.inners + p.t : nullptr};
}

// Columns that stand side by side, read line by line: strip after strip, each `depth` lines of 32.
template <class From>
HILO_AVX512 void pack_lines(const Part<From>& p, int64_t depth, float* out) {
  const int64_t whole = p.count / strip * strip, rest = p.count - whole;
  const auto* from = p.data;
  for (int64_t t = 0; t < p.k; ++t, from += p.inner) {
    float* to = out + t * strip;
    for (int64_t j = 0; j < whole; j += strip, to += strip * depth) {
      __builtin_prefetch(from + 2 * p.inner + j);
      __builtin_prefetch(from + 2 * p.inner + j + lanes);
      _mm512_store_ps(to, From::load(0xffff, from + j));
      _mm512_store_ps(to + lanes, From::load(0xffff, from + j + lanes));
    }
    if (rest > 0) _mm512_store_ps(to, From::load(first(rest), from + whole));
    if (rest > lanes)
      _mm512_store_ps(to + lanes, From::load(first(rest - lanes), from + whole + lanes));
  }
}

template <class From>
void pack_strips(const Part<From>& p, int64_t depth, float* out) {
  if (p.outer == 1) return pack_lines(p, depth, out);
  for (int64_t j = 0; j < p.count; j += lanes) {
    Part<From> part = p;
    part.data += j * p.outer;
    if (p.outers) part.outers += j;
    part.count = std::min(lanes, p.count - j);
    pack(part, out + j / strip * strip * depth + j % strip, strip);
  }
}

// Lines of the right operand: packed, or where they stand.
struct PackedLines {
  const float* b;
  HILO_AVX512 __m512 load(int v, Mask) const { return _mm512_load_ps(b + v * lanes); }
  HILO_AVX512 void fetch(int v) const { __builtin_prefetch(b + 16 * strip + v * lanes); }
  void go_on() { b += strip; }
};
template <class From>
struct StandingLines {
  const typename From::Type* b;
  int64_t step;
  HILO_AVX512 __m512 load(int v, Mask mask) const { return From::load(mask, b + v * lanes); }
  HILO_AVX512 void fetch(int v) const { __builtin_prefetch(b + 16 * step + v * lanes); }
  void go_on() { b += step; }
};

// Of the lines of c one after the other is fetched while the sums grow.
template <class Lines, int rows, int vectors>
HILO_AVX512 void run_block(const KernelBlock& p, Lines from) {
  const Mask last = first(p.columns - (vectors - 1) * lanes);
  __m512 sums[rows][vectors];
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) sums[r][v] = _mm512_setzero_ps();
  const float *a = p.a, *next = p.c;
  for (int64_t part = 0; part < rows; ++part, next += p.leading) {
    __builtin_prefetch(next, 1);
    __builtin_prefetch(next + (vectors - 1) * lanes, 1);
    for (const float* end = p.a + p.k * (part + 1) / rows * lanes; a != end;
         a += lanes, from.go_on()) {
      __m512 right[vectors];
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v)
        right[v] = from.load(v, v + 1 == vectors ? last : Mask(0xffff));
      __builtin_prefetch(a + 16 * lanes);
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v) from.fetch(v);
#pragma GCC unroll 16
      for (int r = 0; r < rows; ++r) {
        __m512 left = _mm512_set1_ps(a[r]);
        asm("" : "+v"(left));  // a register: else each vector's product reads it again
#pragma GCC unroll 2
        for (int v = 0; v < vectors; ++v) sums[r][v] = _mm512_fmadd_ps(left, right[v], sums[r][v]);
      }
    }
  }
  const int64_t leading = p.leading;
  const bool add = p.add;
  float* c = p.c;
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r, c += leading) {
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) {
      const Mask mask = v + 1 == vectors ? last : Mask(0xffff);
      float* to = c + v * lanes;
      if (add) sums[r][v] = _mm512_add_ps(sums[r][v], _mm512_maskz_loadu_ps(mask, to));
      _mm512_mask_storeu_ps(to, mask, sums[r][v]);
    }
  }
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
  functions[static_cast<size_t>((p.rows - 1) * 2 + (p.columns > lanes))](p, from);
}

}  // namespace

bool has_matrix_kernel() {
  static const bool found =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  return found;
}

bool is_kernel_source(ElementType type) {
  return type == ElementType::F32 || type == ElementType::BF16 || type == ElementType::F16 ||
         type == ElementType::S8 || type == ElementType::U8;
}

void pack_rows(const SourcePart& part, float* out) {
  visit_source(part.source.type,
               [&]<class From>(From) { pack(part_of<From>(part), out, packed_rows); });
}

void pack_columns(const SourcePart& part, int64_t depth, float* out) {
  visit_source(part.source.type,
               [&]<class From>(From) { pack_strips(part_of<From>(part), depth, out); });
}

void run_matrix_kernel(const KernelBlock& p) { run_lines(p, PackedLines{p.b}); }

HILO_AVX512 void store_rounded(const float* in, int64_t count, ElementType type, void* out) {
  auto* to = static_cast<uint16_t*>(out);
  for (int64_t i = 0; i < count; i += lanes) {
    const Mask mask = first(count - i);
    const __m512 value = _mm512_maskz_loadu_ps(mask, in + i);
    __m256i narrow;
    if (type == ElementType::F16) {
      narrow = _mm512_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    } else {  // to nearest, ties to even; a NaN stays one
      const __m512i raw = _mm512_castps_si512(value), high = _mm512_srli_epi32(raw, 16);
      const __m512i odd = _mm512_and_si512(high, _mm512_set1_epi32(1));
      const __m512i up = _mm512_add_epi32(raw, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
      narrow = _mm512_cvtepi32_epi16(_mm512_mask_or_epi32(
          _mm512_srli_epi32(up, 16), _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q), high,
          _mm512_set1_epi32(0x40)));
    }
    _mm256_mask_storeu_epi16(to + i, mask, narrow);
  }
}

bool is_direct_source(const MatrixSource& source) {
  return source.outer == 1 && (source.type == ElementType::F32 || source.type == ElementType::BF16);
}

void run_direct_kernel(const KernelBlock& p, const MatrixSource& rhs, int64_t j, int64_t t) {
  const int64_t from = j + t * rhs.inner;
  if (rhs.type == ElementType::F32)
    return run_lines(p,
                     StandingLines<FromF32>{static_cast<const float*>(rhs.data) + from, rhs.inner});
  run_lines(p, StandingLines<FromBF16>{static_cast<const uint16_t*>(rhs.data) + from, rhs.inner});
}

}  // namespace hilo
#else
namespace hilo {
bool has_matrix_kernel() { return false; }
bool is_kernel_source(ElementType) { return false; }
void pack_rows(const SourcePart&, float*) { check(false, "pack_rows: not here"); }
void pack_columns(const SourcePart&, int64_t, float*) { check(false, "pack_columns: not here"); }
void run_matrix_kernel(const KernelBlock&) { check(false, "run_matrix_kernel: not here"); }
void store_rounded(const float*, int64_t, ElementType, void*) {
  check(false, "store_rounded: not here");
}
bool is_direct_source(const MatrixSource&) { return false; }
void run_direct_kernel(const KernelBlock&, const MatrixSource&, int64_t, int64_t) {
  check(false, "run_direct_kernel: not here");
}
}  // namespace hilo
#endif

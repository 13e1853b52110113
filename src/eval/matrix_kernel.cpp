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
#include <cstdlib>
#include <memory>
#include <utility>

#define HILO_AVX512 [[gnu::target("avx512f,avx512bw,avx512vl,avx512dq,fma")]]

namespace hilo {
namespace {

constexpr int64_t lanes = 16, block_rows = 14, strip = 2 * lanes;
constexpr int64_t most_depth = 320, most_columns = 512;  // that are packed at once
static_assert(most_kernel_rows % block_rows == 0);
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

// A part of an operand: `count` free indices and k summed ones from `data` on.
template <class From>
struct Part {
  const typename From::Type* data;
  int64_t outer, inner, count, k;
};

// out[t * width + i] for all t and the first 16 i; lanes without an element are zero.
template <class From>
HILO_AVX512 void pack_across(const Part<From>& p, float* out, int64_t width) {
  for (int64_t t = 0; t < p.k; t += lanes) {
    const Mask mask = first(p.k - t);
    __m512 r[lanes];
#pragma GCC unroll 16
    for (int i = 0; i < lanes; ++i) {
      const bool is_there = i < p.count;
      r[i] = From::load(is_there ? mask : Mask(0), p.data + (is_there ? i * p.outer + t : 0));
    }
    transpose(r);
    const int64_t rest = p.k - t;
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
HILO_AVX512 void pack_scattered(const Part<From>& p, float* out, int64_t width) {
  for (int64_t t = 0; t < p.k; ++t) {
    typename From::Type gathered[lanes] = {};
    for (int64_t i = 0; i < p.count; ++i) gathered[i] = p.data[i * p.outer + t * p.inner];
    _mm512_store_ps(out + t * width, From::load(0xffff, gathered));
  }
}

template <class From>
void pack(const Part<From>& p, float* out, int64_t width) {
  if (p.outer == 1 || p.count == 1) pack_along(p, out, width);
  else if (p.inner == 1) pack_across(p, out, width);
  else pack_scattered(p, out, width);
}

template <class From>
Part<From> part_of(const MatrixSource& s, int64_t i, int64_t count, int64_t t, int64_t k) {
  const auto* data = static_cast<const typename From::Type*>(s.data);
  return {data + i * s.outer + t * s.inner, s.outer, s.inner, count, k};
}

// Columns that stand side by side, read line by line: strip after strip, each k lines of 32.
template <class From>
HILO_AVX512 void pack_lines(const Part<From>& p, float* out) {
  const int64_t whole = p.count / strip * strip, rest = p.count - whole;
  const auto* from = p.data;
  for (int64_t t = 0; t < p.k; ++t, from += p.inner) {
    float* to = out + t * strip;
    for (int64_t j = 0; j < whole; j += strip, to += strip * p.k) {
      _mm512_store_ps(to, From::load(0xffff, from + j));
      _mm512_store_ps(to + lanes, From::load(0xffff, from + j + lanes));
    }
    if (rest > 0) _mm512_store_ps(to, From::load(first(rest), from + whole));
    if (rest > lanes)
      _mm512_store_ps(to + lanes, From::load(first(rest - lanes), from + whole + lanes));
  }
}

template <class From>
void pack_strips(const Part<From>& p, float* out) {
  if (p.outer == 1) return pack_lines(p, out);
  for (int64_t j = 0; j < p.count; j += lanes) {
    Part<From> part = p;
    part.data += j * p.outer;
    part.count = std::min(lanes, p.count - j);
    pack(part, out + j / strip * strip * p.k + j % strip, strip);
  }
}

struct Block {  // of the result: `rows` x up to 32, from packed rows a and a packed strip b
  const float *a, *b;
  int64_t k;
  float* c;
  int64_t leading;
  Mask mask;  // of the last vector
  bool add;
};

template <int rows, int vectors>
HILO_AVX512 void run_block(const Block& p) {
  __m512 sums[rows][vectors];
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) {
    __builtin_prefetch(p.c + r * p.leading, 1);
    __builtin_prefetch(p.c + r * p.leading + lanes, 1);
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) sums[r][v] = _mm512_setzero_ps();
  }
  const float *a = p.a, *b = p.b;
  for (int64_t t = 0; t < p.k; ++t, a += lanes, b += strip) {
    __m512 right[vectors];
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) right[v] = _mm512_load_ps(b + v * lanes);
    __builtin_prefetch(a + 16 * lanes);
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      __m512 left = _mm512_set1_ps(a[r]);
      asm("" : "+v"(left));  // a register: else each vector's product reads it again
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v) sums[r][v] = _mm512_fmadd_ps(left, right[v], sums[r][v]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) {
      const Mask mask = v + 1 == vectors ? p.mask : Mask(0xffff);
      float* c = p.c + r * p.leading + v * lanes;
      if (p.add) sums[r][v] = _mm512_add_ps(sums[r][v], _mm512_maskz_loadu_ps(mask, c));
      _mm512_mask_storeu_ps(c, mask, sums[r][v]);
    }
  }
}

using BlockFunction = void (*)(const Block&);
template <size_t... i>
constexpr std::array<BlockFunction, sizeof...(i)> block_functions(std::index_sequence<i...>) {
  return {run_block<i / 2 + 1, i % 2 + 1>...};
}
constexpr auto run_blocks = block_functions(std::make_index_sequence<2 * block_rows>());

class Packed {  // memory of a thread that is kept
 public:
  float* take(int64_t count) {
    if (count > count_) {
      const auto bytes = static_cast<size_t>((count * 4 + 4095) / 4096 * 4096);
      data_.reset(static_cast<float*>(std::aligned_alloc(4096, bytes)));
      if (!data_) throw std::bad_alloc();
      count_ = count;
    }
    return data_.get();
  }

 private:
  struct Free {
    void operator()(float* memory) const { std::free(memory); }
  };
  std::unique_ptr<float[], Free> data_;
  int64_t count_ = 0;
};

struct Rows {  // the blocks of rows are as equal as they can be
  int64_t m, blocks;
  int64_t begin(int64_t block) const { return block * m / blocks; }
  int64_t count(int64_t block) const { return begin(block + 1) - begin(block); }
};

// Adds the part [t, t + k) of the sums.
void run_depth(const MatrixProduct& p, int64_t t, int64_t k, float* a, float* b) {
  const Rows rows{p.m, (p.m + block_rows - 1) / block_rows};
  visit_source(p.lhs.type, [&]<class From>(From) {
    for (int64_t i = 0; i < rows.blocks; ++i)
      pack(part_of<From>(p.lhs, rows.begin(i), rows.count(i), t, k), a + i * lanes * k, lanes);
  });
  for (int64_t group = 0; group < p.n; group += most_columns) {
    const int64_t wide = std::min(most_columns, p.n - group);
    visit_source(p.rhs.type, [&]<class From>(From) {
      pack_strips(part_of<From>(p.rhs, group, wide, t, k), b);
    });
    for (int64_t j = 0; j < wide; j += strip) {
      const int64_t columns = std::min(strip, wide - j), vectors = columns > lanes ? 2 : 1;
      Block block{nullptr,
                  b + j * k,
                  k,
                  nullptr,
                  p.leading,
                  first(columns - (vectors - 1) * lanes),
                  p.accumulate || t > 0};
      for (int64_t i = 0; i < rows.blocks; ++i) {
        block.a = a + i * lanes * k;
        block.c = p.out + rows.begin(i) * p.leading + group + j;
        run_blocks[static_cast<size_t>((rows.count(i) - 1) * 2 + vectors - 1)](block);
      }
    }
  }
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

void run_matrix_kernel(const MatrixProduct& p) {
  thread_local Packed left, right;
  const int64_t depths = std::max<int64_t>(1, (p.k + most_depth - 1) / most_depth);
  const int64_t depth = (p.k + depths - 1) / depths;
  float* a = left.take((p.m + block_rows - 1) / block_rows * lanes * depth + lanes);
  float* b = right.take((std::min(p.n, most_columns) + strip) * depth + strip);
  if (p.k == 0) return run_depth(p, 0, 0, a, b);
  for (int64_t t = 0; t < p.k; t += depth) run_depth(p, t, std::min(depth, p.k - t), a, b);
}

}  // namespace hilo
#else
namespace hilo {
bool has_matrix_kernel() { return false; }
bool is_kernel_source(ElementType) { return false; }
void run_matrix_kernel(const MatrixProduct&) { check(false, "run_matrix_kernel: not here"); }
}  // namespace hilo
#endif

// bf16 and bytes with AMX (Intel, "Architecture Instruction Set Extensions Programming Reference",
// chapter 3): blocks of 32 rows and columns stay in four tiles of 16 x 16 sums, to which the
// products of two more are added by one instruction, of 16 words of each row and column. It takes
// subnormal bf16 as zeros. A packed element is those 16 words: of rows they stand side by side, of
// columns a word of all 32 after the other.
#include "kernels/gemm/matrix_kernel.h"

#if defined(__x86_64__) && !defined(__SANITIZE_MEMORY__)
#include <algorithm>
#include <cstring>

#include "base/base.h"
#include "kernels/gemm/matrix_kernel_avx512.h"
#include "kernels/gemm/matrix_words.h"
#include "kernels/gemm/tile_registers.h"

namespace hilo {
namespace {

using namespace tile_registers;

constexpr int64_t lines_ahead = 2;  // of columns, which come from the second cache

#define HILO_MULTIPLY(name) \
  asm volatile(name " %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(sums), "i"(rows), "i"(columns))
struct Pairs {
  static constexpr int64_t group = 2, strips_together = 8, depth = 64;
  static constexpr bool fetches_columns = true;
  template <int sums, int rows, int columns>
  static void multiply_add() {
    add_pairs<sums, rows, columns>();
  }
  static void pack(const SourcePart& part, float* out) { pack_pairs(part, out, words); }
  static void pack_strips(const SourcePart& part, int64_t depth, float* out) {
    pack_strips_of_pairs(part, depth, out);
  }
};
template <bool lhs_is_signed, bool rhs_is_signed>
struct Fours {
  static constexpr int64_t group = 4, strips_together = 16, depth = 0;
  static constexpr bool fetches_columns = false;
  template <int sums, int rows, int columns>
  static void multiply_add() {
    if constexpr (lhs_is_signed && rhs_is_signed) HILO_MULTIPLY("tdpbssd");
    else if constexpr (lhs_is_signed) HILO_MULTIPLY("tdpbsud");
    else if constexpr (rhs_is_signed) HILO_MULTIPLY("tdpbusd");
    else HILO_MULTIPLY("tdpbuud");
  }
  static void pack(const SourcePart& part, float* out) {
    pack_fours(part, 0, reinterpret_cast<int32_t*>(out), words);
  }
  static void pack_strips(const SourcePart& part, int64_t depth, float* out) {
    pack_strips_of_fours(part, 0, depth, reinterpret_cast<int32_t*>(out));
  }
};
#undef HILO_MULTIPLY

template <class Words>
constexpr int64_t group = words * Words::group;

// Whether [t, t + count) of the summed index stand side by side.
bool is_run(const SourcePart& p, int64_t t, int64_t count) {
  if (!p.source.inners) return p.source.inner == 1;
  return count_consecutive(p.source.inners + p.t + t, count) == count;
}

// out[r] = 16 words of row r, which stand side by side.
template <class Words>
HILO_AVX512 void copy_rows(const SourcePart& p, int64_t t, int64_t count, std::byte* out) {
  const MatrixSource& s = p.source;
  constexpr int64_t bytes = word_bytes / Words::group;
  const int64_t length = count * bytes;
  const __mmask64 mask = length >= tile_row ? ~uint64_t{0} : (uint64_t{1} << length) - 1;
  for (int64_t r = 0; r < p.count; ++r, out += tile_row) {
    const int64_t i = p.i + r;
    const int64_t at = s.outers ? s.outers[i] + s.inners[p.t + t] : i * s.outer + (p.t + t);
    const auto* from = static_cast<const std::byte*>(s.data) + at * bytes;
    __builtin_prefetch(from + 4 * tile_row);
    _mm512_store_si512(out, _mm512_maskz_loadu_epi8(mask, from));
  }
}

// The same of any rows: packed as columns, of which 16 are transposed at a time.
template <class Words>
HILO_AVX512 void transpose_rows(const SourcePart& p, int64_t t, int64_t count, std::byte* out) {
  alignas(64) float lines[words * side];
  for (int64_t i = 0; i < p.count; i += side) {
    const SourcePart part = {p.source, p.i + i, std::min(side, p.count - i), p.t + t, count};
    if (count < group<Words>) std::memset(lines, 0, sizeof lines);
    Words::pack(part, lines);
    __m512 r[words];
#pragma GCC unroll 16
    for (int64_t n = 0; n < words; ++n) r[n] = _mm512_load_ps(lines + n * side);
    transpose(r);
#pragma GCC unroll 16
    for (int64_t n = 0; n < side; ++n) _mm512_store_ps(out + (i + n) * tile_row, r[n]);
  }
}

template <class Words>
void pack_rows(const SourcePart& part, void* out) {
  auto* to = static_cast<std::byte*>(out);
  for (int64_t t = 0; t < part.k; t += group<Words>, to += block_side * element_bytes) {
    const int64_t count = std::min(group<Words>, part.k - t);
    if (is_run(part, t, count)) copy_rows<Words>(part, t, count, to);
    else transpose_rows<Words>(part, t, count, to);
  }
}

// Words behind the last of the summed index are zeros, too: those of rows may not meet a NaN.
template <class Words>
void pack_columns(const SourcePart& part, int64_t depth, void* out) {
  auto* to = static_cast<float*>(out);
  Words::pack_strips(part, depth * words, to);
  const int64_t used = (part.k + Words::group - 1) / Words::group;
  const int64_t all = (used + words - 1) / words * words;
  for (int64_t j = 0; j < part.count && used < all; j += block_side) {
    float* strip = to + j * depth * words;
    std::fill(strip + used * block_side, strip + all * block_side, 0.0f);
  }
}

template <class Words, bool tall, bool wide>
void run_tiles(const KernelBlock& p) {
  const int64_t step = p.leading * word_bytes;
  auto* c = static_cast<std::byte*>(p.c);
  begin_sums<tall, wide>(c, step, p.add);
  const auto *a = static_cast<const std::byte*>(p.a), *b = static_cast<const std::byte*>(p.b);
  Ahead ahead = p.ahead;
  for (int64_t t = 0; t < p.k; ++t) {
    if constexpr (Words::fetches_columns) {
#pragma GCC unroll 32
      for (int64_t line = 0; line < words * block_line; line += cache_line)
        __builtin_prefetch(b + lines_ahead * words * block_line + line);
    }
    load<left>(a, tile_row);
    load<right>(b, block_line);
    Words::template multiply_add<upper, left, right>();
    if constexpr (wide) {
      load<right + 1>(b + tile_row, block_line);
      Words::template multiply_add<upper + 1, left, right + 1>();
    }
    if constexpr (tall) {
      load<left + 1>(a + side * element_bytes, tile_row);
      Words::template multiply_add<lower, left + 1, right>();
      if constexpr (wide) Words::template multiply_add<lower + 1, left + 1, right + 1>();
    }
    fetch(ahead, p.ahead.count * (t + 1) / p.k - p.ahead.count * t / p.k);
    a += block_side * element_bytes, b += words * block_line;
  }
  store_sums<tall, wide>(c, step);
}

template <class Words>
void run(const KernelBlock& p) {
  shape_tiles(p.rows, p.columns);
  const bool tall = p.rows > side, wide = p.columns > side;
  if (tall) wide ? run_tiles<Words, true, true>(p) : run_tiles<Words, true, false>(p);
  else wide ? run_tiles<Words, false, true>(p) : run_tiles<Words, false, false>(p);
}

template <class Words>
constexpr MatrixKernel kernel_of = {
    .rows = block_side,
    .columns = block_side,
    .row_step = block_side,
    .bytes = element_bytes,
    .sum_bytes = word_bytes,
    .group = group<Words>,
    .strips_together = Words::strips_together,
    .depth = Words::depth,
    .pack_rows = pack_rows<Words>,
    .pack_columns = pack_columns<Words>,
    .run = run<Words>,
    .finish = release_tiles,
    .fetches_rows = true,
};

}  // namespace

const MatrixKernel* bf16_tile_kernel() {
  return processor().has_tiles ? &kernel_of<Pairs> : nullptr;
}

const MatrixKernel* byte_tile_kernel(bool lhs_is_signed, bool rhs_is_signed) {
  if (!processor().has_tiles) return nullptr;
  if (lhs_is_signed)
    return rhs_is_signed ? &kernel_of<Fours<true, true>> : &kernel_of<Fours<true, false>>;
  return rhs_is_signed ? &kernel_of<Fours<false, true>> : &kernel_of<Fours<false, false>>;
}

}  // namespace hilo
#else
namespace hilo {
const MatrixKernel* bf16_tile_kernel() { return nullptr; }
const MatrixKernel* byte_tile_kernel(bool, bool) { return nullptr; }
}  // namespace hilo
#endif

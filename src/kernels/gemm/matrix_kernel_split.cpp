// f32 with AMX's tiles of bf16, which multiply more than ten times as many numbers at once: each
// f32 is the sum of three of bf16, high, middle and low, to nearest, so that
//
//   a b = high high' + high middle' + middle high' + high low' + middle middle' + low high'
//
// but for parts of 2^-25 of it, less than what the rounding of a sum loses (Henry, Tang and
// Heinecke, "Leveraging the bfloat16 artificial intelligence datatype for higher-precision
// computations", ARITH 2019). Parts that are zero in all of a packed block, as of numbers that were
// bf16, are not multiplied.
//
// Tiles take subnormal numbers as zeros, and an infinity times a part that is zero is none. Sums of
// blocks that hold such, or numbers whose parts are, become NaNs, and with sums that are too small
// are no sound ones: the product takes them from another kernel.
#include "kernels/gemm/matrix_kernel.h"

#if defined(__x86_64__) && !defined(__SANITIZE_MEMORY__)
#include <algorithm>
#include <cstring>

#include "base/base.h"
#include "kernels/gemm/matrix_kernel_avx512.h"
#include "kernels/gemm/tile_registers.h"
#include "kernels/packed_memory.h"

#define HILO_SPLIT [[gnu::target("avx512f,avx512bw,avx512vl,avx512dq,fma,avx512bf16")]]

namespace hilo {
namespace {

using namespace tile_registers;

constexpr int64_t parts = 3, high = 0, middle = 1, low = 2;
constexpr int64_t group = 2 * words;
constexpr int64_t part_bytes = block_side * tile_row;  // of 32 rows or columns and a group
constexpr int64_t line_bytes = parts * part_bytes;
// Bits of magnitudes: of numbers whose parts are normal, and of sums that lose nothing.
constexpr int32_t min_number = 27 << 23, end_of_numbers = 254 << 23;
constexpr int32_t min_sum = 37 << 23, end_of_sums = 255 << 23;

// What stands before the lines of a packed block.
struct Head {
  int32_t parts;       // that are not all zero: 1 or 3
  int32_t has_others;  // numbers that are not the sum of their parts
};

HILO_AVX512 inline __m512i raw(__m512 x) { return _mm512_castps_si512(x); }
HILO_AVX512 inline __m512 number(__m512i x) { return _mm512_castsi512_ps(x); }

// Lanes that are neither zero nor have a magnitude in [least, end).
HILO_AVX512 inline __mmask16 is_outside(__m512 x, int32_t least, int32_t end) {
  const __m512i magnitude = _mm512_and_si512(raw(x), _mm512_set1_epi32(0x7fffffff));
  const __m512i above = _mm512_sub_epi32(magnitude, _mm512_set1_epi32(least));
  return _mm512_mask_cmpge_epu32_mask(_mm512_test_epi32_mask(magnitude, magnitude), above,
                                      _mm512_set1_epi32(end - least));
}

// 32 numbers as bf16, to nearest, those of `first` before those of `second`.
HILO_SPLIT inline __m512i narrowed(__m512 first, __m512 second) {
  return reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(second, first));
}
HILO_AVX512 inline __m512 widened(__m256i bf16) {
  return number(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bf16), 16));
}

// What is true of all numbers of a block.
struct Seen {
  __mmask16 outside;
  __m512i bits;

  HILO_AVX512 void add(__m512 x) {
    outside |= is_outside(x, min_number, end_of_numbers);
    bits = _mm512_or_si512(bits, raw(x));
  }
};

// The parts of neighbours of a row; takes them from the numbers.
HILO_SPLIT inline __m512i part_of_row(__m512& first, __m512& second) {
  const __m512i part = narrowed(first, second);
  first = _mm512_sub_ps(first, widened(_mm512_castsi512_si256(part)));
  second = _mm512_sub_ps(second, widened(_mm512_extracti64x4_epi64(part, 1)));
  return part;
}
// Of neighbours of 16 columns, in pairs.
HILO_SPLIT inline __m512i part_of_columns(__m512& even, __m512& odd) {
  const __m512i order = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24,
                                         8, 23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  const __m512i part = _mm512_permutexvar_epi16(order, narrowed(even, odd));
  even = _mm512_sub_ps(even, number(_mm512_slli_epi32(part, 16)));
  odd = _mm512_sub_ps(odd, number(_mm512_and_si512(part, _mm512_set1_epi32(~0xffff))));
  return part;
}

// Parts of a line stand in the order in which they are read.
template <bool are_rows>
constexpr int64_t part_offset(int64_t part) {
  return (are_rows ? parts - 1 - part : part) * part_bytes;
}

// Lines of a group of the summed index, each of 32 free indices.
struct Lines {
  const float* at;
  int64_t step;
};

// 16 of the free indices, from `first` on. Packed elements of rows are a tile's rows; those of
// columns have a word of all of them after the other.
template <bool are_rows>
HILO_SPLIT void split_lines(const Lines& lines, int64_t first, __mmask16 mask, std::byte* out,
                            Seen& seen) {
  __m512 rows[parts][words];
  out += first * (are_rows ? tile_row : word_bytes);
#pragma GCC unroll 4
  for (int64_t word = 0; word < words; ++word) {
    const float* line = lines.at + 2 * word * lines.step + first;
    __m512 even = _mm512_maskz_loadu_ps(mask, line);
    __m512 odd = _mm512_maskz_loadu_ps(mask, line + lines.step);
    __builtin_prefetch(line + group * lines.step);
    __builtin_prefetch(line + (group + 1) * lines.step);
    seen.add(even), seen.add(odd);
#pragma GCC unroll 3
    for (int64_t n = 0; n < parts; ++n) {
      const __m512i part = part_of_columns(even, odd);
      if constexpr (are_rows) rows[n][word] = number(part);
      else _mm512_store_si512(out + part_offset<are_rows>(n) + word * block_line, part);
    }
  }
  if constexpr (are_rows)
    for (int64_t n = 0; n < parts; ++n) {
      transpose(rows[n]);
      for (int64_t r = 0; r < side; ++r)
        _mm512_store_ps(out + part_offset<are_rows>(n) + r * tile_row, rows[n][r]);
    }
}

// The group from place t of the part on, of up to 32 free indices.
template <bool are_rows>
HILO_SPLIT void pack_group(const SourcePart& part, int64_t t, std::byte* out, Seen& seen) {
  const MatrixSource& s = part.source;
  const int64_t count = std::min(group, part.k - t);
  alignas(64) float copied[group * block_side];
  Lines lines = {copied, block_side};
  if (s.outer == 1 && s.type == ElementType::F32 && count == group) {
    lines = {static_cast<const float*>(s.data) + (part.t + t) * s.inner + part.i, s.inner};
  } else {
    const auto kernels = avx512_kernels(ElementType::F32);
    std::memset(copied, 0, sizeof copied);
    kernels[kernels[0]->columns != block_side]->pack_columns(
        {s, part.i, part.count, part.t + t, count}, group, copied);
  }
  for (int64_t i = 0; i < part.count; i += side)
    split_lines<are_rows>(lines, i, first<Floats>(part.count - i), out, seen);
}

// Rows that stand in one piece each.
HILO_SPLIT void pack_rows_in_memory(const SourcePart& part, std::byte* out, Seen& seen) {
  const MatrixSource& s = part.source;
  for (int64_t r = 0; r < part.count; ++r, out += tile_row) {
    const float* from = static_cast<const float*>(s.data) + (part.i + r) * s.outer + part.t;
    std::byte* to = out;
    for (int64_t t = 0; t < part.k; t += group, to += line_bytes) {
      __m512 first_half = _mm512_maskz_loadu_ps(first<Floats>(part.k - t), from + t);
      __m512 second_half = _mm512_maskz_loadu_ps(
          first<Floats>(std::max<int64_t>(0, part.k - t - side)), from + t + side);
      seen.add(first_half), seen.add(second_half);
#pragma GCC unroll 3
      for (int64_t n = 0; n < parts; ++n)
        _mm512_store_si512(to + part_offset<true>(n), part_of_row(first_half, second_half));
    }
  }
}

HILO_SPLIT void store_head(const Seen& seen, std::byte* out) {
  const bool has_one_part = !_mm512_test_epi32_mask(seen.bits, _mm512_set1_epi32(0xffff));
  const Head head = {has_one_part ? 1 : static_cast<int32_t>(parts), seen.outside != 0};
  std::memcpy(out, &head, sizeof head);
}

HILO_SPLIT void pack_rows(const SourcePart& part, void* out) {
  auto* to = static_cast<std::byte*>(out);
  Seen seen = {0, _mm512_setzero_si512()};
  if (part.source.inner == 1 && part.source.type == ElementType::F32)
    pack_rows_in_memory(part, to + line_bytes, seen);
  else
    for (int64_t t = 0; t < part.k; t += group)
      pack_group<true>(part, t, to + (1 + t / group) * line_bytes, seen);
  store_head(seen, to);
}

// Some strips together, whose columns may stand side by side.
HILO_SPLIT void pack_columns(const SourcePart& part, int64_t depth, void* out) {
  constexpr int64_t together = 8;
  auto* to = static_cast<std::byte*>(out);
  for (int64_t first_strip = 0; first_strip * block_side < part.count; first_strip += together) {
    const int64_t rest = part_count(part.count, block_side) - first_strip;
    const int64_t strips = std::min(together, rest);
    Seen seen[together];
    for (Seen& one : seen) one = {0, _mm512_setzero_si512()};
    for (int64_t t = 0; t < part.k; t += group)
      for (int64_t strip = 0; strip < strips; ++strip) {
        const int64_t j = (first_strip + strip) * block_side;
        pack_group<false>(
            {part.source, part.i + j, std::min(block_side, part.count - j), part.t, part.k}, t,
            to + (strip * depth + 1 + t / group) * line_bytes, seen[strip]);
      }
    for (int64_t strip = 0; strip < strips; ++strip)
      store_head(seen[strip], to + strip * depth * line_bytes);
    to += together * depth * line_bytes;
  }
}

Head head_of(const void* packed) {
  Head head;
  std::memcpy(&head, packed, sizeof head);
  return head;
}

// Adds the products of two parts to all tiles of a block: of two rows of them where it is tall, of
// two columns where it is wide.
template <bool tall, bool wide>
struct Tiles {
  static void load_rows(const std::byte* from) {
    load<left>(from, tile_row);
    if constexpr (tall) load<left + 1>(from + side * tile_row, tile_row);
  }
  static void load_columns(const std::byte* from) {
    load<right>(from, block_line);
    if constexpr (wide) load<right + 1>(from + tile_row, block_line);
  }
  static void multiply() {
    add_pairs<upper, left, right>();
    if constexpr (wide) add_pairs<upper + 1, left, right + 1>();
    if constexpr (tall) add_pairs<lower, left + 1, right>();
    if constexpr (tall && wide) add_pairs<lower + 1, left + 1, right + 1>();
  }
};

// Each pair of parts after one that shares a part with it.
template <bool tall, bool wide, bool split_rows, bool split_columns>
void sum_in_tiles(const KernelBlock& p) {
  using T = Tiles<tall, wide>;
  const int64_t step = p.leading * word_bytes;
  auto* c = static_cast<std::byte*>(p.c);
  begin_sums<tall, wide>(c, step, p.add);
  const auto *a = static_cast<const std::byte*>(p.a), *b = static_cast<const std::byte*>(p.b);
  const auto rows = [&](int64_t part) { T::load_rows(a + part_offset<true>(part)); };
  const auto columns = [&](int64_t part) { T::load_columns(b + part_offset<false>(part)); };
  Ahead ahead = p.ahead;
  for (int64_t t = 0; t < p.k; ++t) {
    a += line_bytes, b += line_bytes;
    fetch(ahead, p.ahead.count * (t + 1) / p.k - p.ahead.count * t / p.k);
    if constexpr (split_rows) {
      rows(low), columns(high), T::multiply();
      rows(middle), T::multiply();
      if constexpr (split_columns) columns(middle), T::multiply();
    }
    rows(high);
    if constexpr (split_columns) {
      if constexpr (!split_rows) columns(middle);
      T::multiply();
      columns(low), T::multiply();
    }
    if constexpr (split_columns || !split_rows) columns(high);
    T::multiply();
  }
  store_sums<tall, wide>(c, step);
}

template <bool tall, bool wide>
void sum_parts(const KernelBlock& p, bool split_rows, bool split_columns) {
  if (split_rows)
    split_columns ? sum_in_tiles<tall, wide, true, true>(p)
                  : sum_in_tiles<tall, wide, true, false>(p);
  else
    split_columns ? sum_in_tiles<tall, wide, false, true>(p)
                  : sum_in_tiles<tall, wide, false, false>(p);
}

HILO_AVX512 bool are_sound(const KernelBlock& p) {
  __mmask16 outside = 0;
  for (int64_t r = 0; r < p.rows; ++r)
    for (int64_t j = 0; j < p.columns; j += side) {
      const float* sums = static_cast<const float*>(p.c) + r * p.leading + j;
      const __m512 loaded = _mm512_maskz_loadu_ps(first<Floats>(p.columns - j), sums);
      outside |= is_outside(loaded, min_sum, end_of_sums);
    }
  return outside == 0;
}

void spoil(const KernelBlock& p) {
  for (int64_t r = 0; r < p.rows; ++r)
    std::fill_n(static_cast<float*>(p.c) + r * p.leading, p.columns, __builtin_nanf(""));
}

void run(const KernelBlock& p) {
  const Head rows = head_of(p.a), columns = head_of(p.b);
  if (rows.has_others || columns.has_others) return spoil(p);
  shape_tiles(p.rows, p.columns);
  const bool tall = p.rows > side, wide = p.columns > side;
  const bool split_rows = rows.parts > 1, split_columns = columns.parts > 1;
  if (tall)
    wide ? sum_parts<true, true>(p, split_rows, split_columns)
         : sum_parts<true, false>(p, split_rows, split_columns);
  else
    wide ? sum_parts<false, true>(p, split_rows, split_columns)
         : sum_parts<false, false>(p, split_rows, split_columns);
}

constexpr MatrixKernel kernel = {
    .rows = block_side,
    .columns = block_side,
    .row_step = block_side,
    .bytes = line_bytes / block_side,
    .sum_bytes = sizeof(float),
    .group = group,
    .strips_together = 8,
    .depth = 16,
    .head = 1,
    .pack_rows = pack_rows,
    .pack_columns = pack_columns,
    .run = run,
    .finish = release_tiles,
    .fetches_rows = true,
    .are_sound = are_sound,
};

}  // namespace

const MatrixKernel* split_tile_kernel() { return processor().has_tiles ? &kernel : nullptr; }

}  // namespace hilo
#else
namespace hilo {
const MatrixKernel* split_tile_kernel() { return nullptr; }
}  // namespace hilo
#endif

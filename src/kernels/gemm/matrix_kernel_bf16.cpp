// bf16 with AVX-512's dot products of pairs: sums of f32, to which the products of two neighbours
// of the summed index are added by one instruction. It takes subnormal numbers as zeros.
#include "kernels/gemm/matrix_kernel.h"

#if defined(__x86_64__) && !defined(__SANITIZE_MEMORY__)
#include "base/base.h"
#include "kernels/gemm/matrix_kernel_avx512.h"
#include "kernels/gemm/matrix_words.h"

namespace hilo {
namespace {

constexpr int64_t group = 2;

struct Pairs : Floats {
  // dpbf16; by its name, so that functions of all of AVX-512's processors may hold it.
  HILO_AVX512 static Vector multiply_add(Vector a, Vector b, Vector sum) {
    asm("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
    return sum;
  }
};
constexpr int64_t lanes = Pairs::lanes, strip = Pairs::strip, row_step = Pairs::row_step;

// Turns a part into words of pairs, up to 16 free indices from i on at a time.
struct Packer {
  const SourcePart& p;

  const uint16_t* at(int64_t i, int64_t t) const {
    const MatrixSource& s = p.source;
    i += p.i, t += p.t;
    return static_cast<const uint16_t*>(s.data) +
           (s.outers ? s.outers[i] + s.inners[t] : i * s.outer + t * s.inner);
  }
  bool is_side_by_side(int64_t i, int64_t count) const;
  int64_t run_from(int64_t t) const;
  HILO_AVX512 void pack_along(int64_t i, int64_t count, int64_t t, float* out) const;
  HILO_AVX512 void pack_strip(int64_t j, int64_t t, float* out) const;
  HILO_AVX512 void pack_across(int64_t i, int64_t count, int64_t begin, int64_t end, float* out,
                               int64_t width) const;
  void pack_scattered(int64_t i, int64_t count, int64_t t, float* out) const;
  void pack(int64_t i, int64_t count, float* out, int64_t width) const;
};

// Whether free indices stand next to each other.
bool Packer::is_side_by_side(int64_t i, int64_t count) const {
  if (!p.source.outers) return p.source.outer == 1 || count == 1;
  const int64_t* places = p.source.outers + p.i + i;
  for (int64_t n = 1; n < count; ++n)
    if (places[n] != places[0] + n) return false;
  return true;
}

// How many summed indices from t on stand next to each other.
int64_t Packer::run_from(int64_t t) const {
  if (!p.source.inners) return p.source.inner == 1 ? p.k - t : 1;
  const int64_t* places = p.source.inners + p.t;
  int64_t run = 1;
  while (t + run < p.k && places[t + run] == places[t + run - 1] + 1) ++run;
  return run;
}

HILO_AVX512 void Packer::pack_along(int64_t i, int64_t count, int64_t t, float* out) const {
  const __mmask16 mask = first<Floats>(count);
  __m512i words = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, at(i, t)));
  if (t + 1 < p.k) {
    const __m256i next = _mm256_maskz_loadu_epi16(mask, at(i, t + 1));
    words = _mm512_or_si512(words, _mm512_slli_epi32(_mm512_cvtepu16_epi32(next), 16));
  }
  _mm512_store_si512(out, words);
}

// 32 columns, side by side.
HILO_AVX512 void Packer::pack_strip(int64_t j, int64_t t, float* out) const {
  const __m512i order = _mm512_set_epi16(47, 15, 46, 14, 45, 13, 44, 12, 43, 11, 42, 10, 41, 9, 40,
                                         8, 39, 7, 38, 6, 37, 5, 36, 4, 35, 3, 34, 2, 33, 1, 32, 0);
  const __m512i further = _mm512_add_epi16(order, _mm512_set1_epi16(lanes));
  const auto* line = at(j, t);
  const __m512i low = _mm512_loadu_si512(line);
  __m512i high = _mm512_setzero_si512();
  if (t + 1 < p.k) high = _mm512_loadu_si512(line + p.source.inner);
  __builtin_prefetch(line + 2 * p.source.inner);
  __builtin_prefetch(line + 3 * p.source.inner);
  _mm512_store_si512(out, _mm512_permutex2var_epi16(low, order, high));
  _mm512_store_si512(out + lanes, _mm512_permutex2var_epi16(low, further, high));
}

// Summed indices [begin, end) stand side by side: 16 pairs of each row, as words, are transposed.
HILO_AVX512 void Packer::pack_across(int64_t i, int64_t count, int64_t begin, int64_t end,
                                     float* out, int64_t width) const {
  for (int64_t t = begin; t < end; t += lanes * group) {
    const int64_t rest = end - t;
    const auto mask = static_cast<__mmask32>(rest >= 32 ? ~uint32_t{0} : (uint32_t{1} << rest) - 1);
    __m512 r[lanes];
#pragma GCC unroll 16
    for (int64_t n = 0; n < lanes; ++n) {
      const auto* from = at(i + (n < count ? n : 0), t);
      r[n] = _mm512_castsi512_ps(_mm512_maskz_loadu_epi16(mask, from));
      __builtin_prefetch(from + 8 * lanes);
    }
    transpose(r);
#pragma GCC unroll 16
    for (int64_t n = 0; n < lanes; ++n)
      if (n * group < rest) _mm512_store_ps(out + (t / group + n) * width, r[n]);
  }
}

void Packer::pack_scattered(int64_t i, int64_t count, int64_t t, float* out) const {
  auto* to = reinterpret_cast<uint16_t*>(out);
  std::fill_n(to, lanes * group, uint16_t{0});
  for (int64_t n = 0; n < count; ++n)
    for (int64_t g = 0; g < std::min(group, p.k - t); ++g) to[n * group + g] = *at(i + n, t + g);
}

void Packer::pack(int64_t i, int64_t count, float* out, int64_t width) const {
  constexpr int64_t worth_transposing = 8;
  const bool is_along = is_side_by_side(i, count);
  for (int64_t t = 0; t < p.k;) {
    float* to = out + t / group * width;
    const int64_t run = is_along ? 1 : run_from(t);
    if (run >= worth_transposing) {
      const int64_t end = t + run == p.k ? p.k : (t + run) / group * group;
      pack_across(i, count, t, end, out, width);
      t = end;
      continue;
    }
    if (is_along) pack_along(i, count, t, to);
    else pack_scattered(i, count, t, to);
    t += group;
  }
}

void pack_rows(const SourcePart& part, void* out) {
  pack_pairs(part, static_cast<float*>(out), row_step);
}
void pack_columns(const SourcePart& part, int64_t depth, void* out) {
  pack_strips_of_pairs(part, depth, static_cast<float*>(out));
}

constexpr MatrixKernel kernel = {
    .rows = Pairs::rows,
    .columns = strip,
    .row_step = row_step,
    .bytes = sizeof(float),
    .group = group,
    .pack_rows = pack_rows,
    .pack_columns = pack_columns,
    .run = run_packed<Pairs>,
};

}  // namespace

void pack_pairs(const SourcePart& part, float* out, int64_t width) {
  Packer{part}.pack(0, part.count, out, width);
}

void pack_strips_of_pairs(const SourcePart& part, int64_t depth, float* out) {
  const Packer packer{part};
  const auto place = [&](int64_t j) { return out + j / strip * strip * depth + j % strip; };
  int64_t done = 0;
  if (!part.source.outers && part.source.outer == 1) {  // line by line
    done = part.count / strip * strip;
    for (int64_t t = 0; t < part.k; t += group)
      for (int64_t j = 0; j < done; j += strip)
        packer.pack_strip(j, t, place(j) + t / group * strip);
  }
  for (int64_t j = done; j < part.count; j += lanes)
    packer.pack(j, std::min(lanes, part.count - j), place(j), strip);
}

const MatrixKernel* bf16_kernel() { return processor().has_fast_bf16_pairs ? &kernel : nullptr; }

}  // namespace hilo
#else
namespace hilo {
const MatrixKernel* bf16_kernel() { return nullptr; }
}  // namespace hilo
#endif

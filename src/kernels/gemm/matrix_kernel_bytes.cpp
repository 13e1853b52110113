// Bytes with AVX-512's VNNI, which multiplies unsigned bytes of the left operand with signed ones
// of the right one, four at a time. A left byte with a sign is packed as a + 128, a right one
// without as b - 128; what that adds to a sum is known from the sums of the packed rows and
// columns, and the sums begin with its opposite:
//   a b = (a + p)(b - q) - p (b - q) + q (a + p) - p q,  p and q 128 or 0.
#include "kernels/gemm/matrix_kernel.h"

#if defined(__x86_64__) && !defined(__SANITIZE_MEMORY__)
#include "kernels/gemm/matrix_kernel_avx512.h"
#include "kernels/gemm/matrix_words.h"

namespace hilo {
namespace {

constexpr int64_t group = 4;

// dpbusd; by its name, so that functions of all of AVX-512's processors may hold it.
HILO_AVX512 inline __m512i multiply_bytes(__m512i plain, __m512i with_sign, __m512i sum) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(plain), "v"(with_sign));
  return sum;
}

struct Bytes {
  using Real = int32_t;
  using Vector = __m512i;
  using Mask = __mmask16;
  static constexpr int64_t lanes = 16, vectors = 2, strip = vectors * lanes, head = 1;
  static constexpr int64_t rows = rows_of_block(vector_registers, vectors);
  static constexpr int64_t row_step = step_of_rows(rows), max_depth_chunk = any_depth;
  HILO_AVX512 static Vector zero() { return _mm512_setzero_si512(); }
  HILO_AVX512 static Vector splat(Real x) { return _mm512_set1_epi32(x); }
  HILO_AVX512 static Vector add(Vector a, Vector b) { return _mm512_add_epi32(a, b); }
  HILO_AVX512 static Vector multiply_add(Vector a, Vector b, Vector c) {
    return multiply_bytes(a, b, c);
  }
  HILO_AVX512 static Vector load(const Real* from) { return _mm512_load_si512(from); }
  HILO_AVX512 static Vector load(Mask mask, const Real* from) {
    return _mm512_maskz_loadu_epi32(mask, from);
  }
  HILO_AVX512 static void store(Mask mask, Real* to, Vector x) {
    _mm512_mask_storeu_epi32(to, mask, x);
  }
};
constexpr int64_t lanes = Bytes::lanes, strip = Bytes::strip, row_step = Bytes::row_step;

// The bytes of a part, up to 16 free indices at a time. `flip` is added to each, modulo 256.
struct Packer {
  const SourcePart& p;
  uint8_t flip;

  const uint8_t* at(int64_t i, int64_t t) const {
    const MatrixSource& s = p.source;
    i += p.i, t += p.t;
    return static_cast<const uint8_t*>(s.data) +
           (s.outers ? s.outers[i] + s.inners[t] : i * s.outer + t * s.inner);
  }
  int64_t groups() const { return (p.k + group - 1) / group; }
  // Of the summed indices [begin, end), `begin` a multiple of the group.
  HILO_AVX512 void pack_across(int64_t i, int64_t count, int64_t begin, int64_t end, int32_t* out,
                               int64_t width) const;
  void pack_scattered(int64_t i, int64_t count, int64_t begin, int64_t end, int32_t* out,
                      int64_t width) const;
  HILO_AVX512 void pack_along(int64_t i, int64_t count, int64_t t, int32_t* out) const;
  // Of whole strips and groups; `depth` lines from one strip to the next.
  HILO_AVX512 void pack_strips(int64_t strips, int64_t groups, int64_t depth, int32_t* out) const;
  HILO_AVX512 __m128i line(int64_t i, int64_t count, int64_t t) const {
    if (t >= p.k) return _mm_setzero_si128();
    const __m128i bytes = _mm_maskz_loadu_epi8(first<Bytes>(count), at(i, t));
    return _mm_xor_si128(bytes, _mm_set1_epi8(static_cast<char>(flip)));
  }
  void pack_table(int64_t i, int64_t count, int32_t* out, int64_t width) const;
  void pack(int64_t i, int64_t count, int32_t* out, int64_t width) const;
};

// Summed indices stand side by side: 16 groups of each row, as words, are transposed.
HILO_AVX512 void Packer::pack_across(int64_t i, int64_t count, int64_t begin, int64_t end,
                                     int32_t* out, int64_t width) const {
  for (int64_t t = begin; t < end; t += lanes * group) {
    const int64_t rest = end - t;
    const __mmask64 mask = rest >= 64 ? ~uint64_t{0} : (uint64_t{1} << rest) - 1;
    const __m512i flips = _mm512_maskz_set1_epi8(mask, static_cast<char>(flip));
    __m512 r[lanes];
#pragma GCC unroll 16
    for (int64_t n = 0; n < lanes; ++n) {
      const auto* from = at(i + (n < count ? n : 0), t);
      r[n] = _mm512_castsi512_ps(_mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, from), flips));
    }
    transpose(r);
#pragma GCC unroll 16
    for (int64_t n = 0; n < lanes; ++n)
      if (n * group < rest) _mm512_store_ps(out + (t / group + n) * width, r[n]);
  }
}

// Four lines of 16 bytes become as many groups.
HILO_AVX512 inline __m512i groups_of(__m512i lines) {
  const __m512i words = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
  const __m512i within_lines =
      _mm512_broadcast_i32x4(_mm_set_epi8(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0));
  return _mm512_shuffle_epi8(_mm512_permutexvar_epi32(words, lines), within_lines);
}
HILO_AVX512 inline __m128i load_line(const uint8_t* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}

// Free indices stand side by side: a vector of four lines becomes one of groups.
HILO_AVX512 void Packer::pack_along(int64_t i, int64_t count, int64_t t, int32_t* out) const {
  __m512i lines = _mm512_castsi128_si512(line(i, count, t));
  lines = _mm512_inserti32x4(lines, line(i, count, t + 1), 1);
  lines = _mm512_inserti32x4(lines, line(i, count, t + 2), 2);
  lines = _mm512_inserti32x4(lines, line(i, count, t + 3), 3);
  _mm512_store_si512(out, groups_of(lines));
}

HILO_AVX512 void Packer::pack_strips(int64_t strips, int64_t groups, int64_t depth,
                                     int32_t* out) const {
  const __m512i flips = _mm512_set1_epi8(static_cast<char>(flip));
  const int64_t step = p.source.inner;
  const uint8_t* line = at(0, 0);
  for (int64_t t = 0; t < groups; ++t, line += group * step, out += strip) {
    int32_t* to = out;
    for (int64_t j = 0; j < strips * strip; j += strip, to += depth * strip) {
      const uint8_t* from = line + j;
      for (int64_t g = group; g < 2 * group; ++g) __builtin_prefetch(from + g * step);
      for (int64_t half = 0; half < strip; half += lanes, from += lanes) {
        __m512i lines = _mm512_castsi128_si512(load_line(from));
        lines = _mm512_mask_broadcast_i32x4(lines, 0x00f0, load_line(from + step));
        lines = _mm512_mask_broadcast_i32x4(lines, 0x0f00, load_line(from + 2 * step));
        lines = _mm512_mask_broadcast_i32x4(lines, 0xf000, load_line(from + 3 * step));
        _mm512_store_si512(to + half, groups_of(_mm512_xor_si512(lines, flips)));
      }
    }
  }
}

void Packer::pack_scattered(int64_t i, int64_t count, int64_t begin, int64_t end, int32_t* out,
                            int64_t width) const {
  for (int64_t t = begin; t < end; t += group) {
    auto* to = reinterpret_cast<uint8_t*>(out + t / group * width);
    std::fill_n(to, lanes * group, uint8_t{0});
    for (int64_t n = 0; n < count; ++n)
      for (int64_t g = 0; g < std::min(group, end - t); ++g)
        to[n * group + g] = *at(i + n, t + g) ^ flip;
  }
}

// Free indices that stand side by side go along lines, runs of whole groups of the summed one
// across.
void Packer::pack_table(int64_t i, int64_t count, int32_t* out, int64_t width) const {
  if (count_consecutive(p.source.outers + p.i + i, count) == count) {
    for (int64_t t = 0; t < p.k; t += group) pack_along(i, count, t, out + t / group * width);
    return;
  }
  for (int64_t t = 0, end = 0; t < p.k; t = end) {
    const int64_t rest = p.k - t, run = count_consecutive(p.source.inners + p.t + t, rest);
    end = t + (run == rest ? rest : run / group * group);
    if (end > t) {
      pack_across(i, count, t, end, out, width);
    } else {
      end = std::min(t + group, p.k);
      pack_scattered(i, count, t, end, out, width);
    }
  }
}

void Packer::pack(int64_t i, int64_t count, int32_t* out, int64_t width) const {
  if (p.source.outers) return pack_table(i, count, out, width);
  if (p.source.inner == 1) return pack_across(i, count, 0, p.k, out, width);
  if (p.source.outer != 1 && count > 1) return pack_scattered(i, count, 0, p.k, out, width);
  for (int64_t t = 0; t < p.k; t += group) pack_along(i, count, t, out + t / group * width);
}

// The sums of the packed lines, times `factor`, plus `more`, stand before them.
template <bool is_plain>
HILO_AVX512 void write_head(int32_t* out, int64_t width, int64_t groups, int factor, int more) {
  __m512i sum = _mm512_setzero_si512();
  const __m512i ones = _mm512_set1_epi8(1);
  for (int64_t t = 1; t <= groups && factor != 0; ++t) {
    const __m512i line = _mm512_load_si512(out + t * width);
    sum = is_plain ? multiply_bytes(line, ones, sum) : multiply_bytes(ones, line, sum);
  }
  sum = _mm512_mullo_epi32(sum, _mm512_set1_epi32(factor));
  _mm512_store_si512(out, _mm512_add_epi32(sum, _mm512_set1_epi32(more)));
}

template <int p, int q>
void pack_rows(const SourcePart& part, void* out) {
  auto* to = static_cast<int32_t*>(out);
  pack_fours(part, p, to + row_step, row_step);
  const auto more = static_cast<int32_t>(static_cast<uint32_t>(part.k) * uint32_t{p * q});
  write_head<true>(to, row_step, Packer{part, p}.groups(), q, -more);
}

// A strip's head stands before its lines.
template <int p, int q>
void pack_columns(const SourcePart& part, int64_t depth, void* out) {
  auto* to = static_cast<int32_t*>(out);
  pack_strips_of_fours(part, q, depth, to + strip);
  for (int64_t j = 0; j < part.count; j += lanes)
    write_head<false>(to + j / strip * strip * depth + j % strip, strip, Packer{part, q}.groups(),
                      -p, 0);
}

template <int p, int q>
constexpr MatrixKernel kernel_of = {
    .rows = Bytes::rows,
    .columns = strip,
    .row_step = row_step,
    .bytes = group,
    .group = group,
    .head = Bytes::head,
    .pack_rows = pack_rows<p, q>,
    .pack_columns = pack_columns<p, q>,
    .run = run_packed<Bytes>,
};

}  // namespace

void pack_fours(const SourcePart& part, uint8_t flip, int32_t* out, int64_t width) {
  Packer{part, flip}.pack(0, part.count, out, width);
}

void pack_strips_of_fours(const SourcePart& part, uint8_t flip, int64_t depth, int32_t* out) {
  const Packer packer{part, flip};
  const auto place = [&](int64_t j) { return out + j / strip * strip * depth + j % strip; };
  const bool are_lines = !part.source.outers && part.source.outer == 1;
  const int64_t whole = are_lines ? part.count / strip * strip : 0, groups = part.k / group;
  if (whole > 0) packer.pack_strips(whole / strip, groups, depth, out);
  for (int64_t j = 0; j < whole && groups * group < part.k; j += lanes)
    packer.pack_along(j, lanes, groups * group, place(j) + groups * strip);
  for (int64_t j = whole; j < part.count; j += lanes)
    packer.pack(j, std::min(lanes, part.count - j), place(j), strip);
}

const MatrixKernel* byte_kernel(bool lhs_is_signed, bool rhs_is_signed) {
  if (!processor().has_vnni) return nullptr;
  if (lhs_is_signed) return rhs_is_signed ? &kernel_of<128, 0> : &kernel_of<128, 128>;
  return rhs_is_signed ? &kernel_of<0, 0> : &kernel_of<0, 128>;
}

}  // namespace hilo
#else
namespace hilo {
const MatrixKernel* byte_kernel(bool, bool) { return nullptr; }
}  // namespace hilo
#endif

// Real numbers with AVX-512: packing, and products of blocks.
#include "eval/matrix_kernel.h"

#if defined(__x86_64__) && !defined(__SANITIZE_MEMORY__)
#include "eval/matrix_kernel_avx512.h"
#include "eval/matrix_kernel_standing_avx512.h"

namespace hilo {
namespace {

// How lanes of a type become those that are summed.
struct FromF32 {
  using Numbers = Floats;
  using Type = float;
  HILO_AVX512 static __m512 load(__mmask16 mask, const Type* from) {
    return _mm512_maskz_loadu_ps(mask, from);
  }
};
struct FromBF16 {
  using Numbers = Floats;
  using Type = uint16_t;
  HILO_AVX512 static __m512 load(__mmask16 mask, const Type* from) {
    const __m512i words = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, from));
    return _mm512_castsi512_ps(_mm512_slli_epi32(words, 16));
  }
};
struct FromF16 {
  using Numbers = Floats;
  using Type = uint16_t;
  HILO_AVX512 static __m512 load(__mmask16 mask, const Type* from) {
    return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(mask, from));
  }
};
struct FromS8 {
  using Numbers = Floats;
  using Type = int8_t;
  HILO_AVX512 static __m512 load(__mmask16 mask, const Type* from) {
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(mask, from)));
  }
};
struct FromU8 {
  using Numbers = Floats;
  using Type = uint8_t;
  HILO_AVX512 static __m512 load(__mmask16 mask, const Type* from) {
    return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(mask, from)));
  }
};

struct FromF64 {
  using Numbers = Doubles;
  using Type = double;
  HILO_AVX512 static __m512d load(__mmask8 mask, const Type* from) {
    return _mm512_maskz_loadu_pd(mask, from);
  }
};
struct F64FromF32 {
  using Numbers = Doubles;
  using Type = float;
  HILO_AVX512 static __m512d load(__mmask8 mask, const Type* from) {
    return _mm512_cvtps_pd(_mm256_maskz_loadu_ps(mask, from));
  }
};

// Calls body with how lanes of `type` become those of N.
template <class Body>
void visit_source(Floats, ElementType type, Body&& body) {
  if (type == ElementType::F32) return body(FromF32());
  if (type == ElementType::BF16) return body(FromBF16());
  if (type == ElementType::F16) return body(FromF16());
  if (type == ElementType::S8) return body(FromS8());
  body(FromU8());
}
template <class Body>
void visit_source(Doubles, ElementType type, Body&& body) {
  type == ElementType::F64 ? body(FromF64()) : body(F64FromF32());
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

// out[t * width + i] for t < k and the first i, element t of each standing t after its start;
// lanes without an element are zero.
template <class From>
HILO_AVX512 void pack_across(const typename From::Type* data, const Starts& starts, int64_t count,
                             int64_t k, typename From::Numbers::Real* out, int64_t width) {
  using N = typename From::Numbers;
  constexpr int64_t lanes = N::lanes;
  for (int64_t t = 0; t < k; t += lanes) {
    const auto mask = first<N>(k - t);
    typename N::Vector r[lanes];
#pragma GCC unroll 16
    for (int i = 0; i < lanes; ++i) {
      const auto* from = data + starts[static_cast<size_t>(i)] + t;
      r[i] = From::load(i < count ? mask : typename N::Mask(0), from);
      __builtin_prefetch(from + 8 * lanes);
    }
    transpose(r);
    const int64_t rest = k - t;
#pragma GCC unroll 16
    for (int i = 0; i < lanes; ++i)
      if (i < rest) N::store(out + (t + i) * width, r[i]);
  }
}

template <class From>
HILO_AVX512 void pack_along(const Part<From>& p, typename From::Numbers::Real* out, int64_t width) {
  using N = typename From::Numbers;
  const auto mask = first<N>(p.count);
  for (int64_t t = 0; t < p.k; ++t)
    N::store(out + t * width, From::load(mask, p.data + t * p.inner));
}

template <class From>
HILO_AVX512 void pack_scattered(const typename From::Type* data, const Starts& starts,
                                int64_t count, typename From::Numbers::Real* out) {
  using N = typename From::Numbers;
  typename From::Type gathered[N::lanes] = {};
  for (int64_t i = 0; i < count; ++i) gathered[i] = data[starts[static_cast<size_t>(i)]];
  N::store(out, From::load(first<N>(N::lanes), gathered));
}

int64_t count_consecutive(const int64_t* positions, int64_t most) {
  int64_t count = 1;
  while (count < most && positions[count] == positions[count - 1] + 1) ++count;
  return count;
}

// Runs of the summed index are turned, shorter ones read element by element.
template <class From>
HILO_AVX512 void pack_table(const Part<From>& p, typename From::Numbers::Real* out, int64_t width) {
  using N = typename From::Numbers;
  constexpr int64_t worth_turning = 4;
  const bool is_along = count_consecutive(p.outers, p.count) == p.count;
  Starts starts;
  starts.fill(p.outers[0]);
  std::copy_n(p.outers, p.count, starts.begin());
  for (int64_t t = 0; t < p.k;) {
    const int64_t run = is_along ? 1 : count_consecutive(p.inners + t, p.k - t);
    const auto* data = p.data + p.inners[t];
    if (is_along) N::store(out + t * width, From::load(first<N>(p.count), data + starts[0]));
    else if (run >= worth_turning)
      pack_across<From>(data, starts, p.count, run, out + t * width, width);
    else
      for (int64_t i = 0; i < run; ++i)
        pack_scattered<From>(data + i, starts, p.count, out + (t + i) * width);
    t += run;
  }
}

template <class From>
void pack(const Part<From>& p, typename From::Numbers::Real* out, int64_t width) {
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

// Those from free index i on that a vector holds.
template <class From>
Part<From> lanes_of(Part<From> p, int64_t i) {
  p.data += i * p.outer;
  if (p.outers) p.outers += i;
  p.count = std::min(From::Numbers::lanes, p.count - i);
  return p;
}

// Columns that stand side by side, read line by line: strip after strip, each `depth` lines.
template <class From>
HILO_AVX512 void pack_lines(const Part<From>& p, int64_t depth, typename From::Numbers::Real* out) {
  using N = typename From::Numbers;
  constexpr int64_t lanes = N::lanes, strip = N::strip;
  const auto all = first<N>(lanes);
  const int64_t whole = p.count / strip * strip, rest = p.count - whole;
  const auto* from = p.data;
  for (int64_t t = 0; t < p.k; ++t, from += p.inner) {
    auto* to = out + t * strip;
    for (int64_t j = 0; j < whole; j += strip, to += strip * depth) {
      __builtin_prefetch(from + 2 * p.inner + j);
      __builtin_prefetch(from + 2 * p.inner + j + lanes);
      N::store(to, From::load(all, from + j));
      N::store(to + lanes, From::load(all, from + j + lanes));
    }
    if (rest > 0) N::store(to, From::load(first<N>(rest), from + whole));
    if (rest > lanes)
      N::store(to + lanes, From::load(first<N>(rest - lanes), from + whole + lanes));
  }
}

template <class From>
void pack_strips(const Part<From>& p, int64_t depth, typename From::Numbers::Real* out) {
  constexpr int64_t lanes = From::Numbers::lanes, strip = From::Numbers::strip;
  if (p.outer == 1) return pack_lines(p, depth, out);
  for (int64_t j = 0; j < p.count; j += lanes)
    pack(lanes_of(p, j), out + j / strip * strip * depth + j % strip, strip);
}

// Lines of the right operand where they stand.
template <class From>
struct StandingLines {
  using Numbers = typename From::Numbers;
  const typename From::Type* b;
  int64_t step;
  HILO_AVX512 typename Numbers::Vector load(int v, typename Numbers::Mask mask) const {
    return From::load(mask, b + v * Numbers::lanes);
  }
  HILO_AVX512 void fetch(int v) const { __builtin_prefetch(b + 32 * step + v * Numbers::lanes); }
  void go_on() { b += step; }
};

template <class N>
void pack_rows(const SourcePart& part, void* out) {
  visit_source(N(), part.source.type, [&]<class From>(From) {
    for (int64_t i = 0; i < part.count; i += N::lanes)
      pack(lanes_of(part_of<From>(part), i), static_cast<typename N::Real*>(out) + i, row_step);
  });
}
template <class N>
void pack_columns(const SourcePart& part, int64_t depth, void* out) {
  visit_source(N(), part.source.type, [&]<class From>(From) {
    pack_strips(part_of<From>(part), depth, static_cast<typename N::Real*>(out));
  });
}

bool is_direct(const MatrixSource& source) {
  return source.outer == 1 && (source.type == ElementType::F32 ||
                               source.type == ElementType::BF16 || source.type == ElementType::F64);
}
template <class N>
void run_direct(const KernelBlock& p, const MatrixSource& rhs, int64_t j, int64_t t) {
  visit_source(N(), rhs.type, [&]<class From>(From) {
    const auto* from = static_cast<const typename From::Type*>(rhs.data) + j + t * rhs.inner;
    run_lines(p, StandingLines<From>{from, rhs.inner});
  });
}

template <class N>
constexpr MatrixKernel kernel_of = {
    .rows = kernel_rows,
    .columns = N::strip,
    .row_step = row_step,
    .bytes = sizeof(typename N::Real),
    .pack_rows = pack_rows<N>,
    .pack_columns = pack_columns<N>,
    .run = run_packed<N>,
    .is_direct = is_direct,
    .run_direct = run_direct<N>,
    .standing_type = N::lanes == 8 ? ElementType::F64 : ElementType::F32,
    .standing_rows = standing_rows,
    .run_standing = run_standing<N>,
    .dot_columns = dot_columns<N>,
    .pack_dots = pack_dots<N>,
    .run_dots = run_dots<N>,
};

HILO_AVX512 void store_lanes(const float* in, int64_t count, ElementType type, uint16_t* to) {
  constexpr int64_t lanes = Floats::lanes;
  for (int64_t i = 0; i < count; i += lanes) {
    const __mmask16 mask = first<Floats>(count - i);
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

}  // namespace

const MatrixKernel* avx512_kernel(ElementType sum) {
  if (!has_avx512()) return nullptr;
  return sum == ElementType::F64 ? &kernel_of<Doubles> : &kernel_of<Floats>;
}

bool store_rounded(const float* in, int64_t count, ElementType type, void* out) {
  if (!has_avx512()) return false;
  store_lanes(in, count, type, static_cast<uint16_t*>(out));
  return true;
}

}  // namespace hilo
#else
namespace hilo {
const MatrixKernel* avx512_kernel(ElementType) { return nullptr; }
bool store_rounded(const float*, int64_t, ElementType, void*) { return false; }
}  // namespace hilo
#endif

// Real numbers with AVX2: packing, and products of blocks of 6 rows times two vectors.
#include "kernels/gemm/matrix_kernel.h"

#if defined(__x86_64__) && !defined(__SANITIZE_MEMORY__)
#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#define HILO_TARGET [[gnu::target("avx2,fma,f16c")]]

namespace hilo {
namespace {

constexpr int vector_registers = 16;
// Rows of a block stay in the first cache, and one more step a round would be one too many for
// processors that begin four a cycle.
constexpr bool fetches_rows = false, masks_are_free = false, reads_near = false;
// Each instruction counts where another thread shares the core: rounds of one line that is fetched
// take 24 for 12 products, these 21.
constexpr int64_t lines_a_round = 4, lines_a_fetch = 2;

// The first lanes of a vector.
struct Lanes {
  int64_t count;
};
template <class N>
Lanes first(int64_t n) {
  return {std::min(n, N::lanes)};
}

// The bits of the first lanes of 8 or 4.
HILO_TARGET inline __m256i words_of(Lanes mask) {
  alignas(64) static constexpr int32_t bits[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bits + 8 - mask.count));
}
HILO_TARGET inline __m256i longs_of(Lanes mask) {
  alignas(64) static constexpr int64_t bits[8] = {-1, -1, -1, -1};
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bits + 4 - mask.count));
}

// Vectors of the type that is summed in. The form of a multiply-add that writes its sum is asked
// for: of 16 registers 12 are sums, and with another form GCC moves them.
struct Floats {
  using Real = float;
  using Vector = __m256;
  using Mask = Lanes;
  static constexpr int64_t lanes = 8, vectors = 2, strip = vectors * lanes, head = 0;
  static constexpr int64_t rows = rows_of_block(vector_registers, vectors), unpacked_rows = rows;
  static constexpr int64_t row_step = step_of_rows(rows), max_depth_chunk = any_depth;
  static constexpr bool fetches_strips = false;
  HILO_TARGET static Vector zero() { return _mm256_setzero_ps(); }
  HILO_TARGET static Vector splat(Real x) { return _mm256_set1_ps(x); }
  HILO_TARGET static Vector add(Vector a, Vector b) { return _mm256_add_ps(a, b); }
  HILO_TARGET static Vector multiply_add(Vector a, Vector b, Vector c) {
    asm("vfmadd231ps %2, %1, %0" : "+x"(c) : "x"(a), "x"(b));
    return c;
  }
  HILO_TARGET static Real total(Vector x) {
    const __m128 fours = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    const __m128 twos = _mm_add_ps(fours, _mm_movehl_ps(fours, fours));
    return _mm_cvtss_f32(_mm_add_ss(twos, _mm_movehdup_ps(twos)));
  }
  HILO_TARGET static Vector load(const Real* from) { return _mm256_load_ps(from); }
  HILO_TARGET static Vector load(Mask mask, const Real* from) {
    if (mask.count == lanes) return _mm256_loadu_ps(from);
    return _mm256_maskload_ps(from, words_of(mask));
  }
  HILO_TARGET static void store(Real* to, Vector x) { _mm256_store_ps(to, x); }
  HILO_TARGET static void store(Mask mask, Real* to, Vector x) {
    if (mask.count == lanes) return _mm256_storeu_ps(to, x);
    _mm256_maskstore_ps(to, words_of(mask), x);
  }
};
struct Doubles {
  using Real = double;
  using Vector = __m256d;
  using Mask = Lanes;
  static constexpr int64_t lanes = 4, vectors = 2, strip = vectors * lanes, head = 0;
  static constexpr int64_t rows = rows_of_block(vector_registers, vectors), unpacked_rows = rows;
  static constexpr int64_t row_step = step_of_rows(rows), max_depth_chunk = any_depth;
  static constexpr bool fetches_strips = false;
  HILO_TARGET static Vector zero() { return _mm256_setzero_pd(); }
  HILO_TARGET static Vector splat(Real x) { return _mm256_set1_pd(x); }
  HILO_TARGET static Vector add(Vector a, Vector b) { return _mm256_add_pd(a, b); }
  HILO_TARGET static Vector multiply_add(Vector a, Vector b, Vector c) {
    asm("vfmadd231pd %2, %1, %0" : "+x"(c) : "x"(a), "x"(b));
    return c;
  }
  HILO_TARGET static Real total(Vector x) {
    const __m128d twos = _mm_add_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1));
    return _mm_cvtsd_f64(_mm_add_sd(twos, _mm_unpackhi_pd(twos, twos)));
  }
  HILO_TARGET static Vector load(const Real* from) { return _mm256_load_pd(from); }
  HILO_TARGET static Vector load(Mask mask, const Real* from) {
    if (mask.count == lanes) return _mm256_loadu_pd(from);
    return _mm256_maskload_pd(from, longs_of(mask));
  }
  HILO_TARGET static void store(Real* to, Vector x) { _mm256_store_pd(to, x); }
  HILO_TARGET static void store(Mask mask, Real* to, Vector x) {
    if (mask.count == lanes) return _mm256_storeu_pd(to, x);
    _mm256_maskstore_pd(to, longs_of(mask), x);
  }
};

// 8 rows of 8 lanes become 8 columns: pairs, fours, then halves of vectors change places. By a call
// they would go through memory.
[[gnu::always_inline]] HILO_TARGET inline void transpose(__m256 (&r)[8]) {
  __m256 t[8];
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) {
    t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
    t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const int pair = i / 2 * 4 + i % 2;
    const __m256d low = _mm256_castps_pd(t[pair]), high = _mm256_castps_pd(t[pair + 2]);
    r[i / 2 * 4 + i % 2 * 2] = _mm256_castpd_ps(_mm256_unpacklo_pd(low, high));
    r[i / 2 * 4 + i % 2 * 2 + 1] = _mm256_castpd_ps(_mm256_unpackhi_pd(low, high));
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    t[i] = _mm256_permute2f128_ps(r[i], r[i + 4], 0x20);
    t[i + 4] = _mm256_permute2f128_ps(r[i], r[i + 4], 0x31);
  }
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) r[i] = t[i];
}

// The same of 4 rows of 4 lanes.
[[gnu::always_inline]] HILO_TARGET inline void transpose(__m256d (&r)[4]) {
  const __m256d a = _mm256_unpacklo_pd(r[0], r[1]), b = _mm256_unpackhi_pd(r[0], r[1]),
                c = _mm256_unpacklo_pd(r[2], r[3]), d = _mm256_unpackhi_pd(r[2], r[3]);
  r[0] = _mm256_permute2f128_pd(a, c, 0x20);
  r[1] = _mm256_permute2f128_pd(b, d, 0x20);
  r[2] = _mm256_permute2f128_pd(a, c, 0x31);
  r[3] = _mm256_permute2f128_pd(b, d, 0x31);
}

// The first of 8 words or bytes, zeros behind them.
template <class T>
HILO_TARGET inline __m128i load_narrow(Lanes mask, const T* from) {
  T part[8] = {};
  if (mask.count < 8) {
    for (int64_t i = 0; i < mask.count; ++i) part[i] = from[i];
    from = part;
  }
  if constexpr (sizeof(T) == 1) return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
  else return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}

// How lanes of a type become those that are summed.
struct FromF32 {
  using Numbers = Floats;
  using Type = float;
  HILO_TARGET static __m256 load(Lanes mask, const Type* from) { return Floats::load(mask, from); }
};
struct FromBF16 {
  using Numbers = Floats;
  using Type = uint16_t;
  HILO_TARGET static __m256 load(Lanes mask, const Type* from) {
    const __m256i words = _mm256_cvtepu16_epi32(load_narrow(mask, from));
    return _mm256_castsi256_ps(_mm256_slli_epi32(words, 16));
  }
};
struct FromF16 {
  using Numbers = Floats;
  using Type = uint16_t;
  HILO_TARGET static __m256 load(Lanes mask, const Type* from) {
    return _mm256_cvtph_ps(load_narrow(mask, from));
  }
};
struct FromS8 {
  using Numbers = Floats;
  using Type = int8_t;
  HILO_TARGET static __m256 load(Lanes mask, const Type* from) {
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(load_narrow(mask, from)));
  }
};
struct FromU8 {
  using Numbers = Floats;
  using Type = uint8_t;
  HILO_TARGET static __m256 load(Lanes mask, const Type* from) {
    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(load_narrow(mask, from)));
  }
};
struct FromF64 {
  using Numbers = Doubles;
  using Type = double;
  HILO_TARGET static __m256d load(Lanes mask, const Type* from) {
    return Doubles::load(mask, from);
  }
};
struct F64FromF32 {
  using Numbers = Doubles;
  using Type = float;
  HILO_TARGET static __m256d load(Lanes mask, const Type* from) {
    if (mask.count == 4) return _mm256_cvtps_pd(_mm_loadu_ps(from));
    const __m128i bits = _mm256_castsi256_si128(words_of({mask.count + 4}));
    return _mm256_cvtps_pd(_mm_maskload_ps(from, bits));
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

#include "kernels/gemm/matrix_blocks.def"
#include "kernels/gemm/matrix_packing.def"

HILO_TARGET __m128i rounded_to_bf16(__m256 value) {  // to nearest, ties to even; a NaN stays one
  const __m256i raw = _mm256_castps_si256(value), high = _mm256_srli_epi32(raw, 16);
  const __m256i odd = _mm256_and_si256(high, _mm256_set1_epi32(1));
  const __m256i up = _mm256_add_epi32(raw, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
  const __m256i not_a_number = _mm256_or_si256(high, _mm256_set1_epi32(0x40));
  const __m256i words =
      _mm256_blendv_epi8(_mm256_srli_epi32(up, 16), not_a_number,
                         _mm256_castps_si256(_mm256_cmp_ps(value, value, _CMP_UNORD_Q)));
  return _mm_packus_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
}

HILO_TARGET void store_lanes(const float* in, int64_t count, ElementType type, uint16_t* to) {
  for (int64_t i = 0; i < count; i += Floats::lanes) {
    const int64_t n = std::min(count - i, Floats::lanes);
    const __m256 value = Floats::load(Lanes{n}, in + i);
    const __m128i narrow =
        type == ElementType::F16
            ? _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
            : rounded_to_bf16(value);
    if (n == Floats::lanes) _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), narrow);
    else std::memcpy(to + i, &narrow, static_cast<size_t>(n) * sizeof *to);
  }
}

}  // namespace

const MatrixKernel* avx2_kernel(ElementType sum) {
  if (!processor().has_avx2) return nullptr;
  return sum == ElementType::F64 ? &kernel_of<Doubles> : &kernel_of<Floats>;
}

bool store_rounded_avx2(const float* in, int64_t count, ElementType type, void* out) {
  if (!processor().has_avx2) return false;
  store_lanes(in, count, type, static_cast<uint16_t*>(out));
  return true;
}

}  // namespace hilo
#else
namespace hilo {
const MatrixKernel* avx2_kernel(ElementType) { return nullptr; }
bool store_rounded_avx2(const float*, int64_t, ElementType, void*) { return false; }
}  // namespace hilo
#endif

// Real numbers with AVX-512: packing, and products of blocks.
#include "kernels/gemm/matrix_kernel.h"

#if defined(__x86_64__) && !defined(__SANITIZE_MEMORY__)
#include "kernels/gemm/matrix_kernel_avx512.h"

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

constexpr bool masks_are_free = true, reads_near = true;
#define HILO_TARGET HILO_AVX512
#include "kernels/gemm/matrix_packing.def"
#undef HILO_TARGET

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

// Of few rows and few columns the other form makes more of what it loads.
template <class N>
constexpr MatrixKernel wide_kernel_of = {
    .rows = Wide<N>::rows,
    .columns = Wide<N>::strip,
    .row_step = Wide<N>::row_step,
    .bytes = kernel_of<N>.bytes,
    .packs_single_strips = true,
    .pack_rows = pack_rows<Wide<N>>,
    .pack_columns = pack_columns<Wide<N>>,
    .run = run_packed<Wide<N>>,
    .unpacked_type = kernel_of<N>.unpacked_type,
    .unpacked_rows = Wide<N>::unpacked_rows,
    .run_unpacked = run_unpacked<Wide<N>>,
    .reads_near = reads_near,
    .narrow = &kernel_of<N>,
};

template <class N>
std::array<const MatrixKernel*, 2> kernels_of() {
  // A way of the first cache is a page of 4 KB, so that it is found before its address is.
  constexpr int64_t ways_of_48_kb = 12;
  if (processor().first_cache_ways < ways_of_48_kb) return {&kernel_of<N>, &wide_kernel_of<N>};
  return {&wide_kernel_of<N>, &kernel_of<N>};
}

}  // namespace

std::array<const MatrixKernel*, 2> avx512_kernels(ElementType sum) {
  if (!processor().has_avx512) return {};
  return sum == ElementType::F64 ? kernels_of<Doubles>() : kernels_of<Floats>();
}

bool store_rounded_avx512(const float* in, int64_t count, ElementType type, void* out) {
  if (!processor().has_avx512) return false;
  store_lanes(in, count, type, static_cast<uint16_t*>(out));
  return true;
}

}  // namespace hilo
#else
namespace hilo {
std::array<const MatrixKernel*, 2> avx512_kernels(ElementType) { return {}; }
bool store_rounded_avx512(const float*, int64_t, ElementType, void*) { return false; }
}  // namespace hilo
#endif

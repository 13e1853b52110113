#include "kernels/gemm/matrix_kernel.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#if defined(__x86_64__) && !defined(__SANITIZE_MEMORY__)
#include <immintrin.h>
#endif

namespace hilo {
namespace {

// Kernels of vectors that the compiler knows: a packed element is a float, a double, an int32, or
// two int16, whose products are summed in int32. A block has as many sums as registers hold beside
// its operands, of 32 registers on AArch64 and of 16 elsewhere: so many multiplications under way
// keep four units of a latency of four cycles busy.
#ifdef __aarch64__
constexpr int64_t kernel_rows = 8, strip_vectors = 3;
#else
constexpr int64_t kernel_rows = 6, strip_vectors = 2;
#endif
template <class Element>
using SumOf = std::conditional_t<std::is_same_v<Element, int16_t>, int32_t, Element>;
template <class Element>
constexpr int64_t group = sizeof(SumOf<Element>) / sizeof(Element);

template <class Sum>
Sum wrapping_add(Sum a, Sum b) {
  if constexpr (std::is_floating_point_v<Sum>) return a + b;
  else return static_cast<Sum>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}

// Calls body(data, place) with the elements of the part and where (i, t) stands.
template <class Body>
void visit_part(const SourcePart& p, Body&& body) {
  const MatrixSource& s = p.source;
  visit_storage(s.type, [&]<class From>(std::type_identity<From>) {
    if constexpr (requires(From from) { static_cast<double>(from); }) {
      const auto* data = static_cast<const From*>(s.data);
      if (s.outers) {
        body(data, [&](int64_t i, int64_t t) { return s.outers[p.i + i] + s.inners[p.t + t]; });
      } else {
        data += p.i * s.outer + p.t * s.inner;
        body(data, [&](int64_t i, int64_t t) { return i * s.outer + t * s.inner; });
      }
    }
  });
}

// Calls body(data) with the part's first element if it is not found by tables and is of one of the
// types that are turned into int16 in vectors.
template <class Body>
void visit_short(const SourcePart& p, Body&& body) {
  const MatrixSource& s = p.source;
  if (s.outers) return;
  const int64_t first = p.i * s.outer + p.t * s.inner;
  if (s.type == ElementType::S8) return body(static_cast<const int8_t*>(s.data) + first);
  if (s.type == ElementType::U8) return body(static_cast<const uint8_t*>(s.data) + first);
  if (s.type == ElementType::S16) return body(static_cast<const int16_t*>(s.data) + first);
}

template <class Element>
void pack_any_rows(const SourcePart& p, void* out) {
  constexpr int64_t all = group<Element>;
  auto* to = static_cast<Element*>(out);
  if (p.k % all > 0) std::fill_n(to + p.k / all * kernel_rows * all, kernel_rows * all, Element(0));
  visit_part(p, [&](const auto* data, const auto& place) {
    for (int64_t i = 0; i < p.count; ++i)
      for (int64_t t = 0; t < p.k; ++t)
        to[(t / all * kernel_rows + i) * all + t % all] = static_cast<Element>(data[place(i, t)]);
  });
}

template <class Element, int64_t strip>
void pack_any_columns(const SourcePart& p, int64_t depth, void* out) {
  constexpr int64_t all = group<Element>;
  const int64_t lines = (p.k + all - 1) / all;
  for (int64_t j = 0; j < p.count; j += strip) {
    auto* to = static_cast<Element*>(out) + j * depth * all;
    const int64_t count = std::min(strip, p.count - j);
    if (count < strip) std::fill_n(to, lines * strip * all, Element(0));
    else if (p.k % all > 0) std::fill_n(to + (lines - 1) * strip * all, strip * all, Element(0));
    visit_part(p, [&](const auto* data, const auto& place) {
      for (int64_t t = 0; t < p.k; ++t)
        for (int64_t i = 0; i < count; ++i)
          to[(t / all * strip + i) * all + t % all] = static_cast<Element>(data[place(j + i, t)]);
    });
  }
}

// The same code for each kind of processor.
namespace plain {
#define HILO_TARGET
#define HILO_VECTOR_BYTES 16
#define HILO_MULTIPLY_PAIRS(a, b) \
  ((Words)((a) << 16 >> 16) * (Words)((b) << 16 >> 16) + (Words)((a) >> 16) * (Words)((b) >> 16))
#include "kernels/gemm/matrix_kernel.def"
#undef HILO_TARGET
#undef HILO_VECTOR_BYTES
#undef HILO_MULTIPLY_PAIRS
}  // namespace plain
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_MEMORY__)
namespace avx2 {
#define HILO_TARGET [[gnu::target("avx2,fma")]]
#define HILO_VECTOR_BYTES 32
#define HILO_MULTIPLY_PAIRS(a, b) _mm256_madd_epi16((__m256i)(a), (__m256i)(b))
#include "kernels/gemm/matrix_kernel.def"
#undef HILO_TARGET
#undef HILO_VECTOR_BYTES
#undef HILO_MULTIPLY_PAIRS
}  // namespace avx2
namespace avx512 {
#define HILO_TARGET [[gnu::target("avx512f,avx512bw,prefer-vector-width=512")]]
#define HILO_VECTOR_BYTES 64
#define HILO_MULTIPLY_PAIRS(a, b) _mm512_madd_epi16((__m512i)(a), (__m512i)(b))
#include "kernels/gemm/matrix_kernel.def"
#undef HILO_TARGET
#undef HILO_VECTOR_BYTES
#undef HILO_MULTIPLY_PAIRS
}  // namespace avx512
#define HILO_HAS_VECTOR_KERNELS 1
#else
#define HILO_HAS_VECTOR_KERNELS 0
#endif

// Those of `best` that there are, and those for vectors that the compiler knows.
template <class Element>
MatrixKernels kernels(std::initializer_list<const MatrixKernel*> best) {
  MatrixKernels out = {};
  auto next = out.begin();
  for (const MatrixKernel* kernel : best)
    if (kernel) *next++ = kernel;
#if HILO_HAS_VECTOR_KERNELS
  if constexpr (std::is_floating_point_v<Element>) {
    if (const MatrixKernel* real = avx2_kernel(element_type<Element>)) *next++ = real;
  } else {
    if (processor().has_avx512) *next++ = &avx512::kernel_of<Element>;
    if (processor().has_avx2) *next++ = &avx2::kernel_of<Element>;
  }
#endif
  *next = &plain::kernel_of<Element>;
  return out;
}
#undef HILO_HAS_VECTOR_KERNELS

bool is_byte(ElementType type) { return is_integral(type) && bits_of(type) <= 8; }

bool reads(ElementType sum, ElementType type) {
  if (sum == ElementType::F64) return type == ElementType::F64 || type == ElementType::F32;
  if (sum == ElementType::S32) return is_integral(type) && bits_of(type) <= 32;
  return type == ElementType::F32 || type == ElementType::BF16 || type == ElementType::F16 ||
         type == ElementType::S8 || type == ElementType::U8;
}

MatrixKernels integer_kernels(ElementType lhs, ElementType rhs) {
  const auto is_short = [](ElementType type) { return is_byte(type) || type == ElementType::S16; };
  if (!is_short(lhs) || !is_short(rhs)) return kernels<int32_t>({});
  if (!is_byte(lhs) || !is_byte(rhs)) return kernels<int16_t>({});
  const bool lhs_is_signed = !is_unsigned(lhs), rhs_is_signed = !is_unsigned(rhs);
  return kernels<int16_t>(
      {byte_tile_kernel(lhs_is_signed, rhs_is_signed), byte_kernel(lhs_is_signed, rhs_is_signed)});
}

}  // namespace

Ahead ahead_of(const SourcePart& p) {
  const MatrixSource& s = p.source;
  const int64_t bytes = storage_bytes(s.type);
  const auto* line =
      static_cast<const std::byte*>(s.data) + (p.i * s.outer + p.t * s.inner) * bytes;
  const int64_t length = p.count * bytes;
  return {line, s.inner * bytes, length, 0, p.k * ((length + cache_line - 1) / cache_line)};
}

MatrixKernels matrix_kernels(ElementType sum, ElementType lhs, ElementType rhs) {
  if (!reads(sum, lhs) || !reads(sum, rhs)) return {};
  if (sum == ElementType::S32) return integer_kernels(lhs, rhs);
  const auto [better, other] = avx512_kernels(sum);
  if (sum == ElementType::F64) return kernels<double>({better, other});
  if (lhs != ElementType::BF16 || rhs != ElementType::BF16) return kernels<float>({better, other});
  return kernels<float>({bf16_tile_kernel(), bf16_kernel(), better, other});
}

bool multiplies_tiles(ElementType lhs, ElementType rhs) {
  if (is_byte(lhs) && is_byte(rhs)) return byte_tile_kernel(!is_unsigned(lhs), !is_unsigned(rhs));
  return lhs == ElementType::BF16 && rhs == ElementType::BF16 && bf16_tile_kernel();
}

// Few rows of bf16 are multiplied with columns where these stand, widened, faster than tiles of
// them are packed.
const MatrixKernel* best_kernel(ElementType sum, ElementType lhs, ElementType rhs, int64_t rows) {
  constexpr int64_t few = 8;
  const bool are_widened = rows <= few && lhs == ElementType::BF16 && multiplies_tiles(lhs, rhs);
  return matrix_kernels(sum, lhs, rhs)[are_widened];
}

const MatrixKernel* split_kernel(ElementType lhs, ElementType rhs) {
  const bool are_bf16 = lhs == ElementType::BF16 && rhs == ElementType::BF16;
  const bool reads_both = reads(ElementType::F32, lhs) && reads(ElementType::F32, rhs);
  return reads_both && !are_bf16 ? split_tile_kernel() : nullptr;
}

bool store_rounded(const float* in, int64_t count, ElementType type, void* out) {
  return store_rounded_avx512(in, count, type, out) || store_rounded_avx2(in, count, type, out);
}

}  // namespace hilo

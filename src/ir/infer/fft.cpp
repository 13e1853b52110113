#include "ir/infer/infer.h"

namespace hilo {
namespace {

Result<void> need_type(const Shape& from, std::initializer_list<ElementType> types) {
  for (ElementType type : types)
    if (from.type == type) return {};
  return misfit("expected {} or {} elements, found {}", text_of(*types.begin()),
                text_of(*(types.begin() + 1)), text(from));
}

}  // namespace

// fft_length gives the last dimensions of the real side; the complex side of RFFT and IRFFT has
// length / 2 + 1 in the last one.
Result<Shape> infer_Fft(const Given& given) {
  HILO_DO(need_arrays(given));
  const auto& a = given.attributes<FftAttributes>();
  const Shape& from = given.operand(0);
  const size_t n = a.fft_length.size(), rank = from.dims.size();
  if (n < 1 || n > 3) return misfit("expected 1 to 3 fft_length, found {}", braced(a.fft_length));
  if (n > rank) return misfit("expected at least {} dimensions in {}", n, text(from));
  for (int64_t length : a.fft_length) HILO_DO(need_in_range("fft_length", length, 0, INT64_MAX));
  const bool real = a.fft_type == FftType::Rfft, inverse_real = a.fft_type == FftType::Irfft;
  if (real) HILO_DO(need_type(from, {ElementType::F32, ElementType::F64}));
  if (!real) HILO_DO(need_type(from, {ElementType::C64, ElementType::C128}));
  Dims expected(from.dims.begin(), from.dims.end() - n), out = from.dims;
  expected.insert(expected.end(), a.fft_length.begin(), a.fft_length.end());
  const int64_t length = a.fft_length.back(), half = length == 0 ? 0 : length / 2 + 1;
  if (inverse_real) expected.back() = half;
  if (from.dims != expected)
    return misfit("expected an operand of dimensions {} for fft_length={}, found {}",
                  braced(expected), braced(a.fft_length), text(from));
  if (real) return make_array(complex_type_of(from.type), (out.back() = half, out), from.dynamic);
  if (inverse_real)
    return make_array(real_type_of(from.type), (out.back() = length, out), from.dynamic);
  return from;
}

}  // namespace hilo

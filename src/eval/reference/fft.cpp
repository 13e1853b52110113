#include <numbers>

#include "eval/reference/reference.h"
#include "eval/values.h"

namespace hilo::reference {
namespace {

using Complex = std::complex<double>;

struct Array {
  Dims dims;
  std::vector<Complex> values;
};

// out[k] = scale * sum over t < n of in[t] exp(-+2 pi i t k / n) along dimension d, for k < size.
// Elements that are not there are the conjugates of those that are, as of the spectrum of reals.
Array transform(const Array& in, size_t d, int64_t n, int64_t size, bool is_inverse) {
  Array out{in.dims, {}};
  out.dims[d] = size;
  const Dims strides = row_major_strides(in.dims);
  const double sign = is_inverse ? 1 : -1, scale = is_inverse ? 1.0 / static_cast<double>(n) : 1;
  for_each_index(out.dims, [&](Dims index) {
    const int64_t k = index[d];
    Complex sum = 0;
    for (int64_t t = 0; t < n; ++t) {
      const bool is_there = t < in.dims[d];
      index[d] = is_there ? t : n - t;
      const Complex x = in.values[offset(index, strides)];
      const double angle = 2 * std::numbers::pi * static_cast<double>(t * k % n) / n;
      sum += (is_there ? x : std::conj(x)) * std::polar(1.0, sign * angle);
    }
    out.values.push_back(sum * scale);
  });
  return out;
}

}  // namespace

void fft(const Literal& operand, const FftAttributes& a, Literal& out) {
  const bool from_real = a.fft_type == FftType::Rfft, to_real = a.fft_type == FftType::Irfft;
  const bool is_inverse = to_real || a.fft_type == FftType::Ifft;
  const size_t last = operand.shape().dims.size() - 1, count = a.fft_length.size();
  Array now{operand.shape().dims, values_of<Complex>(operand)};
  if (from_real) now = transform(now, last, a.fft_length.back(), out.shape().dims[last], false);
  for (size_t i = 0; i < count; ++i) {
    const size_t d = last + 1 - count + i;
    if (d < last || !(from_real || to_real))
      now = transform(now, d, a.fft_length[i], a.fft_length[i], is_inverse);
  }
  if (to_real) now = transform(now, last, a.fft_length.back(), a.fft_length.back(), true);
  store_values<Complex>(now.values, out);
}

}  // namespace hilo::reference

// fft: in complex f64, powers of two by Cooley and Tukey's recursion, other lengths as a
// convolution of such a length (Bluestein, "A linear filtering approach to the computation of
// discrete Fourier transform", 1970). Inverse transforms divide by the length.
#include <bit>
#include <cmath>
#include <numbers>

#include "eval/dynamic_sizes.h"
#include "eval/matrix_pack.h"

namespace hilo {
namespace {

using Number = std::complex<double>;

// exp(2 pi i numerator / denominator)
Number root_of_unity(int64_t numerator, int64_t denominator) {
  return std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(numerator % denominator) /
                             static_cast<double>(denominator));
}

class Transform {  // of one length and direction (-1 forward, 1 inverse), unscaled
 public:
  Transform(int64_t n, int sign) : n_(n), size_(n) {
    if (!std::has_single_bit(static_cast<uint64_t>(n))) {
      size_ = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(2 * n - 1)));
      for (int64_t i = 0; i < n; ++i)
        chirp_.push_back(root_of_unity(sign * (i * i % (2 * n)), 2 * n));
    }
    for (int64_t i = 0; i < size_ / 2; ++i)
      roots_.push_back(root_of_unity(chirp_.empty() ? sign * i : -i, size_));
    if (chirp_.empty()) return;
    spectrum_.assign(size_, 0);
    for (int64_t i = 0; i < n; ++i)
      spectrum_[i] = spectrum_[(size_ - i) % size_] = std::conj(chirp_[i]);
    power_of_two(spectrum_);
  }

  void run(std::vector<Number>& line) const {
    if (chirp_.empty()) return power_of_two(line);
    std::vector<Number> work(size_);
    for (int64_t i = 0; i < n_; ++i) work[i] = line[i] * chirp_[i];
    power_of_two(work);
    // The inverse by conjugation: IDFT(x) = conj(DFT(conj(x))) / size.
    for (int64_t i = 0; i < size_; ++i) work[i] = std::conj(work[i] * spectrum_[i]);
    power_of_two(work);
    for (int64_t i = 0; i < n_; ++i)
      line[i] = std::conj(work[i]) * chirp_[i] / static_cast<double>(size_);
  }

 private:
  void power_of_two(std::vector<Number>& x) const {
    for (int64_t i = 1, j = 0; i < size_; ++i) {
      int64_t bit = size_ >> 1;
      for (; j & bit; bit >>= 1) j ^= bit;
      j ^= bit;
      if (i < j) std::swap(x[i], x[j]);
    }
    for (int64_t half = 1; half < size_; half *= 2)
      for (int64_t start = 0; start < size_; start += 2 * half)
        for (int64_t i = 0; i < half; ++i) {
          const Number even = x[start + i];
          const Number odd = x[start + half + i] * roots_[i * (size_ / (2 * half))];
          x[start + i] = even + odd, x[start + half + i] = even - odd;
        }
  }

  int64_t n_, size_;
  std::vector<Number> roots_, chirp_, spectrum_;
};

struct Array {
  Dims dims;
  std::vector<Number> values;
};

void transform(const Call& call, Array& array, size_t dim, bool inverse) {
  const int64_t n = array.dims[dim], step = row_major_strides(array.dims)[dim];
  if (array.values.empty()) return;
  const Transform plan(n, inverse ? 1 : -1);
  const double scale = inverse ? 1.0 / static_cast<double>(n) : 1.0;
  const int64_t lines = static_cast<int64_t>(array.values.size()) / n;
  call.parallel(lines, std::max<int64_t>(1, 1024 / n), [&](int64_t begin, int64_t end) {
    std::vector<Number> line(n);
    for (int64_t i = begin; i < end; ++i) {
      Number* first = array.values.data() + i / step * step * n + i % step;
      for (int64_t t = 0; t < n; ++t) line[t] = first[t * step];
      plan.run(line);
      for (int64_t t = 0; t < n; ++t) first[t * step] = line[t] * scale;
    }
  });
}

// The last dimension with another size: element t of each row is at(row, t).
Array with_last(const Array& array, int64_t size, const auto& at) {
  Array out{array.dims, {}};
  const int64_t old = array.dims.back();
  out.dims.back() = size;
  const int64_t rows = element_count(out.dims) / std::max<int64_t>(size, 1);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t t = 0; t < size; ++t) out.values.push_back(at(array.values.data() + row * old, t));
  return out;
}

// Of an operand whose batch has dynamic sizes.
Result<Literal> on_sizes(Call& call) {
  const size_t transformed = call.attributes<FftAttributes>().fft_length.size();
  Dims sizes = sizes_of(call.operands[0]);
  const Shape& operand = call.operands[0].shape();
  for (size_t d = sizes.size() - std::min(sizes.size(), transformed); d < sizes.size(); ++d) {
    if (sizes[d] != operand.dims[d])
      return call.error(ErrorKind::Unsupported, "fft along a dimension of dynamic size");
    sizes[d] = call.shape().dims[d];
  }
  return evaluate_cut(call, evaluate_Fft, std::array{sizes});
}

// All dimensions of fft_length.
void transform_all(const Call& call, const FftAttributes& a, Array& array) {
  const size_t rank = array.dims.size();
  const bool to_real = a.fft_type == FftType::Irfft;
  const bool inverse = a.fft_type == FftType::Ifft || to_real;
  for (size_t d = rank - a.fft_length.size(); d + 1 < rank; ++d) transform(call, array, d, inverse);
  const int64_t n = a.fft_length.back();
  if (to_real)  // the other half of a spectrum that belongs to real numbers
    array = with_last(array, n, [&](const Number* row, int64_t t) {
      return t <= n / 2 ? row[t] : std::conj(row[n - t]);
    });
  transform(call, array, rank - 1, inverse);
  if (a.fft_type == FftType::Rfft)
    array = with_last(array, n / 2 + 1, [](const Number* row, int64_t t) { return row[t]; });
}

}  // namespace

Result<Literal> evaluate_Fft(Call& call) {
  if (has_cut_operand(call)) return on_sizes(call);
  const auto& a = call.attributes<FftAttributes>();
  Literal out = call.make();
  if (out.count() == 0) return out;
  Array array{call.operands[0].shape().dims, values_of<Number>(call.operands[0])};
  if (a.fft_length.empty() || a.fft_length.size() > array.dims.size())
    return call.error(ErrorKind::Shape, "fft: fft_length has more dimensions than the operand");
  transform_all(call, a, array);
  store_values<Number>(array.values, out);
  return out;
}

}  // namespace hilo
